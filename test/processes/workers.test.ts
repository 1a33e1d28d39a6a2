/**
 * Workers that take their calls, with two processes on PostgreSQL: the call of a run that one process owns is given out by the
 * other one, and either process may be killed while the worker works. The call is executed once.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { serveAgent } from 'proviso/agent'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { lineSchema, topicSchema, until, write } from '../agents/agent-server.ts'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

/** Short, to be waited for. */
const env = { PROVISO_LEASE_MS: '2000' }
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A load balancer in front of the processes: passes connections to one of them, which can be changed. */
async function startBalancer(first: string) {
  let target = first
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const { hostname, port } = new URL(target)
    const upstream = connect(Number(port), hostname)
    const both = [client, upstream]
    for (const socket of both) {
      open.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket)
          for (const each of both) each.destroy()
        })
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use(address: string) {
      target = address
    },
  }
}

describe.skipIf(missingPostgres() !== undefined)('a worker of two processes', { timeout: 120_000 }, () => {
  const here = processes()
  let asked: Process
  let owner: Process
  beforeEach(async () => {
    asked = await here.serve(env)
    owner = await here.serve(env)
  })
  afterEach(async () => {
    for (const each of [asked, owner]) each.kill('SIGKILL')
    await Promise.all([asked.ended, owner.ended])
  })

  /** Starts a worker that is known to the one process, and a run at the other; resolves when the worker works. */
  async function begin(id: string) {
    const balancer = await startBalancer(asked.address)
    const keys: string[] = []
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const worker = await serveAgent({
      id,
      input: topicSchema,
      output: lineSchema,
      server: { url: balancer.url, token: 'any' },
      poll: true,
      onError: () => {},
      async run(inputs, { idempotencyKey }) {
        keys.push(idempotencyKey)
        await finished
        return write(inputs)
      },
    })
    closing.push(() => worker.close({ graceMs: 0 }))
    const node = { id: 'write', capabilityId: id, inputs: { topic: { envelope: '/inputs/topic' } } }
    const envelope = {
      objective: 'One line',
      inputs: { topic: 'tea' },
      outputContract: { schema: lineSchema },
    }
    const begun = await owner.call(`${api}/runs`, { envelope, draft: { nodes: [node] } })
    const { runId } = (await begun.json()) as { runId: string }
    await until(() => keys.length > 0)
    return { balancer, keys, finish, runId }
  }

  const completed = { status: 'completed', output: { line: 'Time for tea.' } }
  async function expectDone(runId: string, keys: readonly string[], from: Process) {
    const frames = await from.followed(runId)
    expect(frames.at(-1)?.payload).toMatchObject(completed)
    expect(frames.filter(({ type }) => type === 'attempt_start')).toHaveLength(1)
    expect(keys).toHaveLength(1)
    expect(await here.verify()).toMatch(/all in order$/)
  }

  it('takes the call from the one process, and its answer completes the run of the other', async () => {
    const { keys, finish, runId } = await begin('write.shared')
    finish()
    await expectDone(runId, keys, owner)
  })

  it('answers after the process that owned the run was killed: the other one has the run by then', async () => {
    const { keys, finish, runId } = await begin('write.orphan')
    owner.kill('SIGKILL')
    await owner.ended
    finish()
    await expectDone(runId, keys, asked)
  })

  it('answers through the other process after its own was killed', async () => {
    const { balancer, keys, finish, runId } = await begin('write.moved')
    asked.kill('SIGKILL')
    await asked.ended
    balancer.use(owner.address)
    finish()
    await expectDone(runId, keys, owner)
  })

  it('takes calls through the other process after its own was killed', async () => {
    const { balancer, keys, finish, runId } = await begin('write.later')
    finish()
    await expectDone(runId, keys, owner)
    asked.kill('SIGKILL')
    await asked.ended
    balancer.use(owner.address)
    const again = await owner.call(`${api}/runs?wait=60`, {
      envelope: {
        objective: 'One line',
        inputs: { topic: 'rain' },
        outputContract: { schema: lineSchema },
      },
      draft: {
        nodes: [
          { id: 'write', capabilityId: 'write.later', inputs: { topic: { envelope: '/inputs/topic' } } },
        ],
      },
    })
    expect(await again.json()).toMatchObject({ status: 'completed', output: { line: 'Time for rain.' } })
    expect(keys).toHaveLength(2)
  })
})
