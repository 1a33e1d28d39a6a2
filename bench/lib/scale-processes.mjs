/** The processes of the scale bench: the API and the workers of one carrier, and the Restate server with a balancer. */
import { createServer } from 'node:net'
import { compile } from '../../scripts/compile.mjs'
import { start as startRestate } from '../../scripts/restate.mjs'
import { startChild } from './engine-process.mjs'
import { grandchildMs } from './processor-time.mjs'

let compiled
/** The sources that the processes load; compiled once for all. */
function getPrograms() {
  compiled ??= compile({
    app: 'src/app.ts',
    capability: 'src/domain/capability/define-capability.ts',
    balancer: 'test/queues/balancer.ts',
  }).then(({ programs, dispose }) => {
    process.once('exit', dispose)
    return programs
  })
  return compiled
}

const program = new URL('../engines/scale-child.mjs', import.meta.url)

/**
 * Starts a process for each role, and resolves when all are ready.
 * @param queue of `startQueue`; without it, runs are claimed by lease
 */
export async function openProcesses(url, roles, queue) {
  const programs = await getPrograms()
  const open = async (role) => {
    const child = startChild(program, ['--expose-gc'])
    const { failed } = await child.request('open', {
      ...{ role, url, programs },
      queue: queue?.takeOptions(role),
    })
    if (failed) throw new Error(failed)
    return child
  }
  // Alone, because the saver of LangGraph makes its tables without a lock.
  const first = await open(roles[0])
  const children = [first, ...(await Promise.all(roles.slice(1).map(open)))]
  return { children, close: () => Promise.all(children.map((child) => child.close())) }
}

/** A Restate server of its own, and a balancer in front of so many workers. */
export async function startQueue(workers) {
  const { balancer: path } = await getPrograms()
  const { startBalancer } = await import(path)
  const [server, balancer, ports] = await Promise.all([
    startRestate(),
    startBalancer(),
    Promise.all(Array.from({ length: workers }, findFreePort)),
  ])
  for (const port of ports) balancer.add(port)
  const { ingress, admin } = server
  return {
    /** The option `queue` of one process. */
    takeOptions: (role) => ({
      ...{ kind: 'restate', ingress, admin, address: balancer.url },
      ...(role === 'worker' && { port: ports.pop() }),
    }),
    cpuMs: () => grandchildMs('restate-server'),
    async stop() {
      await server.stop()
      await balancer.close()
    },
  }
}

function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
