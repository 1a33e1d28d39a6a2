/** Strings with the shape of a well-known key in free text leave a server nowhere; the answer has its own route. */
import { expect, it } from 'vitest'
import { api, approved, frames, local, serve, start } from './support.ts'

/** Assembled here, so that scanners of repositories do not find keys in this file. */
const planted = {
  objective: `sk-proj-${'Objective1'.repeat(5)}`,
  topic: `AKIA${'TOPIC2TOPIC2TOPI'}`,
  instruction: `ghp_${'Instruction3'.repeat(3)}`,
  answer: `xoxb-123456789012-${'Answer4'.repeat(4)}`,
  thrown: `sk-ant-api03-${'Thrown5'.repeat(8)}`,
  note: `AIza${'N6'.repeat(17)}x`,
  url: 'Passw0rd-in-a-url-7',
}
const all = Object.values(planted)
const hits = (text: string) => all.filter((key) => text.includes(key))

it('no key of 7 in streams, pages, lists, asks and log lines', async () => {
  const lines: string[] = []
  const received: unknown[] = []
  const { call, app } = await serve(
    {
      capabilities: [
        local('write', (input) => {
          received.push(input)
          return { text: `Tea, and your key is ${planted.answer}.`, apiKey: planted.answer }
        }),
        local('fail', () => {
          throw new Error(`401 with ${planted.thrown}`)
        }),
      ],
    },
    { log: { level: 'debug', verbose: true, destination: { write: (line) => void lines.push(line) } } },
  )
  const draft = {
    nodes: [{ id: 'write', capabilityId: 'write', inputs: { topic: { envelope: '/inputs/topic' } } }],
  }
  const said = {
    objective: `Write with ${planted.objective}`,
    specialInstructions: [`Use ${planted.instruction}`],
    inputs: { topic: `tea with ${planted.topic} at https://ann:${planted.url}@example.invalid` },
  }
  const left: { [source: string]: string } = {}
  left['run.stream'] = await (
    await call(`${api}/run.stream`, { body: start({ ...said, ...approved }, draft) })
  ).text()
  const [runId = ''] = /flex_[0-9a-f-]+/.exec(left['run.stream']) ?? []
  const { asks } = await (await call(`${api}/hitl?status=pending`)).json()
  left['asks'] = JSON.stringify(asks)
  const [{ requestId = '', valueHash = '' } = {}] = asks
  const reply = { requestId, valueHash, decision: 'approve', note: `See ${planted.note}` }
  await call(`${api}/hitl/resolve`, { body: reply })
  expect((await app.result(runId)).output).toMatchObject({ text: `Tea, and your key is ${planted.answer}.` })
  left['failing run'] = await (
    await call(`${api}/run.stream`, { body: start(said, { nodes: [{ id: 'fail', capabilityId: 'fail' }] }) })
  ).text()
  for (const path of [`/runs/${runId}`, '/runs', '/hitl?status=resolved'])
    left[path] = await (await call(`${api}${path}`)).text()
  left['page of events'] = await (
    await call(`${api}/runs/${runId}/events`, { headers: { accept: 'application/json' } })
  ).text()
  left['stream of events'] = JSON.stringify(
    await frames(await call(`${api}/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })),
  )
  left['log'] = lines.join('')
  expect(
    Object.entries(left).flatMap(([source, text]) => hits(text).map((key) => `${key} in ${source}`)),
  ).toEqual([])
  for (const [source, text] of Object.entries(left))
    expect(text, source).toContain(source === 'log' ? runId : '[redacted]')

  expect(received).toEqual([{ topic: said.inputs.topic }])
  expect(left[`/runs/${runId}`]).toContain('Tea, and your key is [redacted].')
  const output = await (await call(`${api}/runs/${runId}/output`)).json()
  expect(output).toMatchObject({ runId, output: { text: `Tea, and your key is ${planted.answer}.` } })
})

it('the route of the answer reports a run without one, and hides runs of other tenants', async () => {
  const { call, tokenFor } = await serve({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
  const { runId } = await (await call(`${api}/runs`, { body: start(approved) })).json()
  const waiting = await call(`${api}/runs/${runId}/output`)
  expect([waiting.status, (await waiting.json()).code]).toEqual([409, 'run/state'])
  const token = await tokenFor('caller', 'other')
  expect((await call(`${api}/runs/${runId}/output`, { token })).status).toBe(404)
})
