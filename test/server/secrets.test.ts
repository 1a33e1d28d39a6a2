/** Planted secrets never leave a server (T16, C57): streams, pages, lists, asks, metrics, log lines and errors go through one redactor. */
import { expect, it } from 'vitest'
import { api, approved, local, serve, start } from './support.ts'

/** Known to the app, at any location. */
const known = {
  option: 'planted-option-secret-1',
  header: 'planted-header-secret-2',
  url: 'planted-url-secret-3',
}
/** Not known to the app; they are under keys that name secrets. */
const named = {
  apiKey: 'planted-api-key-4',
  password: 'planted-password-5',
  authorization: 'Bearer planted-bearer-6',
  credentials: { nested: 'planted-nested-7' },
  access_token: 'planted-token-8',
  secret: 'planted-plain-9',
  token: 'planted-plain-10',
}
const planted = [...Object.values(known), 'planted-api-key-4', 'planted-password-5', 'planted-bearer-6']
const all = [
  ...planted,
  'planted-nested-7',
  'planted-token-8',
  'planted-plain-9',
  'planted-plain-10',
  'planted-thrown-11',
  'planted-body-12',
]

it('0 of 12 secrets in anything that a caller, an operator or a scraper can read', async () => {
  const lines: string[] = []
  const left: { [source: string]: string } = {}
  const { call } = await serve(
    {
      secrets: [...Object.values(known), 'planted-thrown-11', 'planted-body-12'],
      capabilities: [
        local('write', () => ({ text: 'Tea' })),
        local('fail', () => {
          throw new Error(`401 for https://user:${known.url}@example.invalid: planted-thrown-11`)
        }),
      ],
    },
    { log: { level: 'debug', verbose: true, destination: { write: (line) => void lines.push(line) } } },
  )
  const inputs = { topic: `tea with ${known.option} and ${known.header}`, ...named }
  const stream = await call(`${api}/run.stream`, { body: start({ inputs, ...approved }) })
  left['run.stream'] = await stream.text()
  const [runId = ''] = /flex_[0-9a-f-]+/.exec(left['run.stream']) ?? []
  const failing = { nodes: [{ id: 'fail', capabilityId: 'fail' }] }
  left['failing run'] = await (await call(`${api}/run.stream`, { body: start({ inputs }, failing) })).text()
  for (const path of [`/runs/${runId}`, `/runs/${runId}/events`, '/runs', '/hitl', '/capabilities']) {
    left[path] = await (
      await call(`${api}${path}`, { headers: { accept: 'application/json', cookie: known.header } })
    ).text()
  }
  left['/metrics'] = await (await call('/metrics')).text()
  left['prove'] = await (await call(`${api}/prove`, { body: start({ inputs }) })).text()
  left['bad body'] = await (
    await call(`${api}/runs`, { body: { envelope: { 'planted-body-12': 1 } } })
  ).text()
  left['bad path'] = await (await call(`${api}/runs/planted-body-12`)).text()
  left['log'] = lines.join('')
  const hits = Object.entries(left).flatMap(([source, words]) =>
    all.filter((secret) => words.includes(secret)).map((secret) => `${secret} in ${source}`),
  )
  expect(hits).toEqual([])
  const page = JSON.parse(left[`/runs/${runId}`] ?? '{}')
  for (const key of ['apiKey', 'secret', 'token'])
    expect(page.run.envelope.inputs[key], key).toBe('[redacted]')
  // The check can fail: what was planted went in, and is shown as taken out.
  expect(left['run.stream']).toContain('[redacted]')
  expect(left[`/runs/${runId}`]).toContain('[redacted]')
  expect(left['log']).toContain(runId)
  expect(left['failing run']).toContain('401 for')
})
