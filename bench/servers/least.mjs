/**
 * The least that a server for such runs can do in Node.js on PostgreSQL: it accepts the same requests, waits as long for its
 * agents, keeps as many events as durably, in group commits, and streams them after the commit. It checks, plans, decides and
 * recovers nothing, and has one index per table. Its figures are what the machine allows. Called with the address of an
 * empty database.
 */
import { createServer } from 'node:http'
import pg from 'pg'
import { agentMs, agents } from './plan.mjs'
import { answerQuestions } from './questions.mjs'

const [, address] = process.argv.slice(2)
const lanes = 3
/** As long as the payloads and the frames of the server that is measured, on average. */
const payload = JSON.stringify({ text: 'x'.repeat(295) })
const frame = JSON.stringify({ text: 'x'.repeat(530) })

const admin = new pg.Client(address)
await admin.connect()
await admin.query(
  `create table least_runs (run_id text collate "C" primary key, seq int not null, status text not null)`,
)
await admin.query(
  `create table least_events (run_id text collate "C", seq int, type text not null, payload text not null, primary key (run_id, seq))`,
)
await admin.end()

const free = await Promise.all(
  Array.from({ length: lanes }, async () => {
    const client = new pg.Client({ connectionString: address, pipeline: true })
    await client.connect()
    return client
  }),
)
let pending = []

function append(write) {
  return new Promise((resolve, reject) => {
    pending.push({ ...write, resolve, reject })
    if (pending.length === 1) setImmediate(commit)
  })
}

/** One transaction for all that wait, in three statements with a list per column. */
async function commit() {
  if (pending.length === 0 || free.length === 0) return
  const client = free.pop()
  const batch = pending
  pending = []
  // In one order, so that no two lanes wait for each other.
  batch.sort((one, other) => (one.runId < other.runId ? -1 : 1))
  const events = batch.flatMap(({ runId, after, types }) =>
    types.map((type, index) => ({ runId, seq: after + index + 1, type })),
  )
  const send = (name, text, values) => client.query({ name, text, values })
  try {
    await Promise.all([
      client.query('begin'),
      send(
        'runs',
        `insert into least_runs select * from unnest($1::text[], $2::int[], $3::text[])
           on conflict (run_id) do update set seq = excluded.seq, status = excluded.status`,
        [
          batch.map(({ runId }) => runId),
          batch.map(({ after, types }) => after + types.length),
          batch.map(({ types }) => (types.includes('complete') ? 'completed' : 'running')),
        ],
      ),
      send('events', 'insert into least_events select *, $4 from unnest($1::text[], $2::int[], $3::text[])', [
        events.map(({ runId }) => runId),
        events.map(({ seq }) => seq),
        events.map(({ type }) => type),
        payload,
      ]),
      client.query('commit'),
    ])
    for (const { resolve } of batch) resolve()
  } catch (error) {
    for (const { reject } of batch) reject(error)
  } finally {
    free.push(client)
    if (pending.length > 0) setImmediate(commit)
  }
}

const began = ['start', 'plan_requested', 'plan_generated']
const starts = ['node_start', 'attempt_start']
const ends = ['attempt_end', 'node_complete']
/** The events of each write: those of the start, and then of each agent. */
const writes = [
  [...began, ...starts],
  ...Array.from({ length: agents }, (_, index) => [...ends, ...(index < agents - 1 ? starts : ['complete'])]),
]

let runs = 0
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  JSON.parse(body)
  runs += 1
  const runId = `run-${runs.toString(36)}-${process.pid}`
  let after = 0
  for (const [index, types] of writes.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, agentMs))
    await append({ runId, after, types })
    if (index === 0) response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = types.map((type, at) => `id: ${after + at + 1}\nevent: ${type}\ndata: ${frame}\n\n`)
    response.write(text.join(''))
    after += types.length
  }
  response.end()
})
server.listen(0, '127.0.0.1', () =>
  answerQuestions(`http://127.0.0.1:${server.address().port}`, () => ({ streams: 0 })),
)
