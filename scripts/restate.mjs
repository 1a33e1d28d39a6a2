// @ts-check
/**
 * Starts a disposable Restate server for tests and harnesses, from the binary in its npm package: its own data in a temporary
 * folder, on loopback ports, without telemetry. It stops when the process that started it ends, even if that is killed.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * @typedef {object} RestateServer
 * @property {string} ingress
 * @property {string} admin
 * @property {() => Promise<void>} kill kills the process at once; the data stays
 * @property {() => Promise<void>} restart starts a killed server on its data and ports, and resolves when it is ready
 * @property {() => Promise<void>} stop
 */

/** Returns why the server is not available; `undefined` if it is. In CI, a missing one throws. */
export function missingRestate() {
  if (findBinary() !== undefined) return undefined
  const reason = `The Restate server is not installed: @restatedev/restate-server has no binary for ${process.platform}-${process.arch}`
  if (process.env['CI'] === 'true') throw new Error(`${reason}; in CI its tests must not be skipped`)
  console.warn(`${reason}; its tests are skipped.`)
  return reason
}

function findBinary() {
  const { resolve } = createRequire(import.meta.url)
  try {
    const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
    const file = join(dirname(resolve(`${name}/package.json`)), 'bin/restate-server')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** @returns {Promise<RestateServer>} */
export async function start() {
  const [server] = await startCluster(1)
  if (server === undefined) throw new Error('No server was started')
  return server
}

/**
 * Starts a cluster of so many nodes; with several, logs and metadata are replicated to two of three.
 * @param {number} size
 * @param {Readonly<Record<string, string>>} [settings] further environment variables of the server
 * @returns {Promise<readonly RestateServer[]>}
 */
export async function startCluster(size, settings = {}) {
  const binary = findBinary()
  if (binary === undefined) throw new Error(missingRestate())
  const folder = mkdtempSync(join(tmpdir(), 'proviso-restate-'))
  const ports = await freePorts(3 * size)
  const addresses = Array.from({ length: size }, (_, nth) => `http://127.0.0.1:${ports[3 * nth]}`)
  const stopped = { count: 0 }
  const nodes = addresses.map((address, nth) => {
    const [node = 0, ingress = 0, admin = 0] = ports.slice(3 * nth, 3 * nth + 3)
    const env = {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_CLUSTER_NAME: 'proviso-test',
      RESTATE_NODE_NAME: `node-${nth + 1}`,
      RESTATE_BASE_DIR: join(folder, `node-${nth + 1}`),
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_ADVERTISED_ADDRESS: address,
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_AUTO_PROVISION: nth === 0 ? 'true' : 'false',
      RESTATE_DEFAULT_NUM_PARTITIONS: '4',
      RESTATE_DEFAULT_REPLICATION: size > 1 ? '2' : '1',
      RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(addresses),
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256MB',
      RESTATE_LOG_FILTER: 'warn',
      RESTATE_LOG_DISABLE_ANSI_CODES: 'true',
      ...settings,
    }
    const urls = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` }
    const log = join(folder, `node-${nth + 1}.log`)
    return createNode({ binary, env, log, ...urls }, () => {
      stopped.count += 1
      if (stopped.count === size) rmSync(folder, { recursive: true, force: true })
    })
  })
  await Promise.all(nodes.map(({ restart }) => restart()))
  return nodes
}

/**
 * @param {{ binary: string, env: NodeJS.ProcessEnv, log: string, ingress: string, admin: string }} given
 * @param {() => void} onStopped
 * @returns {RestateServer}
 */
function createNode({ binary, env, log, ingress, admin }, onStopped) {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  /** @type {Promise<void>} */
  let ended = Promise.resolve()
  let isStopped = false

  const kill = async () => {
    // The whole group: the shell and the server.
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
    await ended
    child = undefined
  }

  return {
    ingress,
    admin,
    kill,
    async restart() {
      const output = openSync(log, 'a')
      // The server ends with this process, because the shell reads the end of the pipe.
      const script = '"$0" --no-logo & server=$!; read _; kill -9 $server'
      const started = spawn('sh', ['-c', script, binary], {
        env,
        cwd: tmpdir(),
        stdio: ['pipe', output, output],
        detached: true,
      })
      child = started
      ended = new Promise((resolve) => started.once('close', () => resolve()))
      const until = Date.now() + 60_000
      while (!(await isReady(ingress, admin))) {
        if (Date.now() > until) {
          await kill()
          throw new Error(
            `The Restate server does not become ready: ${readFileSync(log, 'utf8').slice(-2_000)}`,
          )
        }
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
    },
    async stop() {
      if (isStopped) return
      isStopped = true
      await kill()
      onStopped()
    },
  }
}

/** @param {string} ingress @param {string} admin */
async function isReady(ingress, admin) {
  const isUp = async (/** @type {string} */ url) => {
    const response = await fetch(url).catch(() => undefined)
    await response?.arrayBuffer()
    return response?.ok === true
  }
  return (await isUp(`${ingress}/restate/health`)) && (await isUp(`${admin}/health`))
}

/**
 * @param {number} count
 * @returns {Promise<number[]>}
 */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise((/** @type {(port: number) => void} */ resolve, reject) => {
          server.on('error', reject)
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
