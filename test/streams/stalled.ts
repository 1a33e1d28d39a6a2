/**
 * A process in which many readers of one large run take nothing, and then some take everything: what they cost meanwhile, as one line
 * of JSON. A process of its own, because what tests left behind would count too. Needs `--expose-gc`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createParser } from 'eventsource-parser'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { getWakeups } from '../seams/server.ts'
import { logEvent, newRun, runningHead, sampleEvent } from '../seams/stores.ts'
import { serveStreams } from './serve.ts'

export interface StalledTask {
  readonly readers: number
  readonly events: number
  readonly eventBytes: number
  /** Readers that continue in the end; the others are cut off. */
  readonly wakingUp: number
}

export interface StalledReport {
  /** What all streams keep in responses and sockets without any reader. */
  readonly buffered: number
  /** What the process has more than before, after collecting: objects and buffers, and all that is resident. */
  readonly held: number
  readonly resident: number
  readonly openWhileStalled: number
  /** Readers that continued and got every event once and in order. */
  readonly whole: number
  readonly openAtEnd: number
}

const { readers, events, eventBytes, wakingUp } = JSON.parse(process.argv[2] ?? '{}') as StalledTask
const folder = mkdtempSync(join(tmpdir(), 'proviso-stalled-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const store = await openSqliteStore({ path: join(folder, 'runs.db') })
await store.create(newRun('r'))
for (let seq = 1; seq < events - 1; seq++)
  await store.append({
    runId: 'r',
    expectedSeq: seq,
    // Each is another text: equal ones would be stored once.
    events: [logEvent(`${seq} `.padEnd(eventBytes, 'x'))],
    head: runningHead,
  })
const { url, responses, ended } = await serveStreams({ store })
// What a first stream makes for good is not the cost of the others.
const first = openSocket()
await readTo(first, events - 1)
first.destroy()
await ended(1)

const before = memory()
const sockets = Array.from({ length: readers }, openSocket)
await quiet()
const streaming = responses.slice(1)
const stalled = memory()
// That of a response includes that of its socket.
const buffered = streaming.reduce((sum, response) => sum + response.writableLength, 0)
const openWhileStalled = getWakeups(store).open
await store.append({
  runId: 'r',
  expectedSeq: events - 1,
  events: [sampleEvent('complete', { status: 'completed' })],
  head: { status: 'completed', planVersion: 1 },
})
// Most of them never come back.
for (const socket of sockets.slice(wakingUp)) socket.destroy()
const read = sockets.slice(0, wakingUp).map((socket) => readTo(socket, events))
const whole = (await Promise.all(read)).filter(Boolean).length
await ended(readers + 1)
const report: StalledReport = {
  buffered,
  held: stalled.held - before.held,
  resident: stalled.resident - before.resident,
  openWhileStalled,
  whole,
  openAtEnd: getWakeups(store).open,
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit())

function openSocket(): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.write('GET /r HTTP/1.0\r\n\r\n')
  return socket
}

/** Every socket has said stop, and in many turns of the loop none has taken a byte more. */
async function quiet(): Promise<void> {
  let last = -1
  for (let turns = 0; turns < 200; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    const streams = responses.slice(1)
    const written = streams.reduce((sum, response) => sum + (response.socket?.bytesWritten ?? 0), 0)
    const full = streams.length === readers && streams.every((response) => response.writableNeedDrain)
    if (!full || written !== last) turns = 0
    last = written
  }
}

function memory() {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { held: heapUsed + external, resident: rss }
}

/** Whether every event up to this one comes once and in order. */
function readTo(socket: Socket, last: number): Promise<boolean> {
  return new Promise((resolve) => {
    let seq = 0
    let right = true
    const parser = createParser({
      onEvent({ id }) {
        right &&= Number(id) === ++seq
        if (seq === last) resolve(right)
      },
    })
    let inBody = false
    socket.setEncoding('utf8').on('data', (data: unknown) => {
      const text = String(data)
      parser.feed(inBody ? text : text.slice(text.indexOf('\r\n\r\n') + 4))
      inBody = true
    })
    socket.on('close', () => resolve(false))
    socket.resume()
  })
}
