/**
 * Hundreds of large callbacks without a right signature (2,000 in the long form): the server refuses them by their heads and
 * does not read their bodies, its memory does not grow, it keeps answering others, and soon answers 429.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent, type ReceivedCall, status, wanted, writer, writing } from '../agents/support.ts'
import { file } from '../cli/run-support.ts'
import { measureLowest } from '../remeasure.ts'
import { api } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'

const long = process.env['PROVISO_LONG'] === '1'
const posts = long ? 2_000 : 200
const atOnce = 25
const body = Buffer.alloc(900_000, 'x')
const offered = posts * body.length

let child: ChildProcess & { readonly pid: number }
let address = ''

beforeAll(async () => {
  requireBuild()
  // Development mode, because the agent is on this machine; with the limits of production.
  const config = file(
    'flood.toml',
    '[server]\nfailed_tokens = 60\nfailed_token_seconds = 60\ncallback_requests = 1000\ncallback_seconds = 10\n',
  )
  const args = [
    'serve',
    '--dev',
    '--port',
    '0',
    '--store',
    'memory:',
    '--preset',
    'marketing',
    '--config',
    config,
  ]
  const started = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
    env: { ...process.env, NO_COLOR: '1' },
  })
  child = started as typeof child
  address = (await listening(started)).address
})
afterAll(() => void child.kill('SIGKILL'))

describe('a flood of large callbacks', () => {
  it('to calls that do not exist is refused by the heads, and soon with 429', async () => {
    const flood = await measureFlood(() => `${api}/callbacks/${randomBytes(8).toString('hex')}`)
    expect([...flood.statuses.keys()].filter((each) => !['404', '429', 'cut'].includes(each))).toEqual([])
    await expectHarmless(flood)
  })

  it('with wrong signatures to a call that waits is refused, and soon with 429', async () => {
    const path = await acceptedCall('writer.first')
    const flood = await measureFlood(() => path)
    // The body is no JSON either, which is seen first.
    expect([...flood.statuses.keys()].filter((each) => !['400', '429', 'cut'].includes(each))).toEqual([])
    await expectHarmless(flood)
  })

  it('is not read either if each has another query', async () => {
    const path = await acceptedCall('writer.second')
    const flood = await measureFlood(() => `${path}?n=${randomBytes(4).toString('hex')}`)
    expect([...flood.statuses.keys()].filter((each) => !['400', '429', 'cut'].includes(each))).toEqual([])
    await expectHarmless(flood)
  })
})

interface Flood {
  readonly statuses: ReadonlyMap<string, number>
  /** Bytes that the process has read from all its files and sockets. */
  readonly bytesRead: number
  readonly grownMb: number
  readonly livezMs: number
  readonly path: string
}

async function expectHarmless({ statuses, bytesRead, grownMb, livezMs, path }: Flood): Promise<void> {
  const counts = [...statuses].map(([name, count]) => `${count} × ${name}`).join(', ')
  console.log(
    `${posts} posts, ${Math.round(offered / 1e6)} MB offered, ${Math.round(bytesRead / 1e6)} MB read, ` +
      `memory +${Math.round(grownMb)} MB, /livez p99 ${livezMs.toFixed(0)} ms; ${counts}`,
  )
  expect((await post(path, Buffer.alloc(0))).status).toBe('429')
  // Some of a body arrives with its head; of one call, twenty bodies are read, and callbacks that are on their way meanwhile.
  expect(bytesRead).toBeLessThan(0.15 * offered + (20 + atOnce) * body.length)
  expect(grownMb).toBeLessThan(100)
  // Other work on the machine delays the answers too: without a flood they take `calmMs`.
  const calmMs = await measureCalm()
  const limit = Math.max(400, 8 * calmMs)
  let measured = livezMs
  const lowest = await measureLowest(limit, async () => {
    const now = measured
    if (now > limit) measured = (await measureFlood(() => path)).livezMs
    return now
  })
  expect(lowest).toBeLessThanOrEqual(limit)
}

async function measureCalm(): Promise<number> {
  const until = performance.now() + 500
  return toP99(await watchLivez(() => performance.now() < until))
}

const toP99 = (times: readonly number[]) => times[Math.floor(times.length * 0.99)] ?? 0

async function measureFlood(path: () => string): Promise<Flood> {
  const before = { read: bytesReadBy(child.pid), mb: memoryOf(child.pid) }
  let isOver = false
  const watching = watchLivez(() => !isOver)
  const statuses = new Map<string, number>()
  let left = posts
  let highest = 0
  const sender = async () => {
    while (left-- > 0) {
      const { status } = await post(path(), body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      highest = Math.max(highest, memoryOf(child.pid))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  isOver = true
  const times = await watching
  return {
    statuses,
    bytesRead: bytesReadBy(child.pid) - before.read,
    grownMb: highest - before.mb,
    livezMs: toP99(times),
    path: path(),
  }
}

/** Times of `/livez`, in order of length: once, and as long as `isOn`. */
async function watchLivez(isOn: () => boolean): Promise<number[]> {
  const times: number[] = []
  do {
    const begun = performance.now()
    expect((await fetch(`${address}/livez`)).status).toBe(200)
    times.push(performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, 5))
  } while (isOn())
  return times.sort((one, other) => one - other)
}

/** Sends the whole body without waiting for an answer. `cut`: the connection was reset before the answer was read. */
function post(path: string, bytes: Buffer): Promise<{ readonly status: string }> {
  const { hostname, port } = new URL(address)
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `proviso-timestamp: ${Math.floor(Date.now() / 1_000)}`,
    `proviso-nonce: ${randomBytes(16).toString('hex')}`,
    `proviso-signature: v1=${'a'.repeat(64)}`,
  ]
  return new Promise((resolve) => {
    let said = ''
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      if (bytes.length > 0) socket.write(bytes)
    })
    const end = () => resolve({ status: /^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 'cut' })
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part
      if (said.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', end).on('close', end)
  })
}

/** The path of a callback that an agent has promised. */
async function acceptedCall(capabilityId: string): Promise<string> {
  let called = (_: ReceivedCall) => {}
  const received = new Promise<ReceivedCall>((resolve) => (called = resolve))
  const later = await agent((response, call) => {
    status(202)(response, call)
    called(later.received.at(-1) as ReceivedCall)
  })
  const send = (path: string, value: unknown) =>
    fetch(`${address}${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    })
  expect((await send('/capabilities/register', writer(later.url, { capabilityId }))).status).toBe(201)
  expect((await send('/runs', { envelope: wanted(), draft: writing({ capabilityId }) })).status).toBe(202)
  return new URL((await received).call.callbackUrl ?? '').pathname
}

const bytesReadBy = (pid: number) =>
  Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
const memoryOf = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
