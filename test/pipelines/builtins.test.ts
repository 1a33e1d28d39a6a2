/** The built-ins of pipelines and the merging of branches, run by the ordinary engine. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp, type DefinedCapability, type Json } from '../../src/index.ts'
import { compile, problems, run } from './support.ts'

const step = (uses: string, params = '{}', input = '"{{ input }}"') =>
  `steps: [{ name: s, uses: ${uses}, params: ${params}, input: ${input} }]`

async function output(text: string, input: Json): Promise<Json> {
  const done = await run(text, undefined, { input })
  expect(done).toMatchObject({ status: 'completed', issues: [] })
  return done.output as Json
}

describe('functions', () => {
  it.each<[string, string, Json, Json]>([
    ['passthrough', '{}', { a: [1] }, { a: [1] }],
    ['stringify', '{}', { a: [1, 'é'] }, '{"a":[1,"é"]}'],
    ['stringify', '{}', 'text', 'text'],
    ['select_fields', '{ fields: [a, b.c] }', { a: 1, b: { c: 2, d: 3 }, e: 4 }, { a: 1, c: 2 }],
    ['select_fields', '{ fields: { first: list.0, "x.y": a } }', { a: 1, list: [7] }, { first: 7, 'x.y': 1 }],
    ['flatten', '{}', [[1, 2], [], [[3]], 4], [1, 2, [3], 4]],
    ['join', '{}', ['a', 1, null], 'a, 1, null'],
    ['join', '{ separator: "" }', ['a', 'b'], 'ab'],
    [
      'to_csv',
      '{}',
      [
        { a: 1, b: 'x' },
        { b: 'y', c: [1] },
      ],
      'a,b,c\r\n1,x,\r\n,y,[1]\r\n',
    ],
    [
      'to_csv',
      '{ columns: [b, a], header: false, delimiter: ";" }',
      [{ a: 'q"r', b: 'x;y' }],
      '"x;y";"q""r"\r\n',
    ],
    [
      'to_csv',
      '{}',
      [
        ['a', 1],
        ['line\nbreak', ' b'],
      ],
      'a,1\r\n"line\nbreak"," b"\r\n',
    ],
    ['to_csv', '{}', [], ''],
  ])('%s %s', async (uses, params, input, expected) => {
    expect(await output(step(uses, params), input)).toEqual(expected)
  })

  it('to_csv writes no cell that a spreadsheet would run, and leaves numbers alone', async () => {
    const harmful = [
      '=1+1',
      '+1',
      '-2+3',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      ' =1',
      '＝1',
      '=HYPERLINK("http://x?"&A1)',
    ]
    const csv = String(
      await output(
        step('to_csv', '{ columns: [a] , header: false }'),
        harmful.map((a) => ({ a })),
      ),
    )
    const cells = [...csv.matchAll(/"((?:[^"]|"")*)"\r\n/g)].map(([, cell = '']) =>
      cell.replaceAll('""', '"'),
    )
    expect(cells).toEqual(harmful.map((text) => `'${text}`))
    expect(await output(step('to_csv', '{ header: false }'), [{ a: -5, b: 'a=1' }])).toBe('-5,a=1\r\n')
    expect(await output(step('to_csv', '{ header: false, formulas: keep }'), [{ a: '=1' }])).toBe('=1\r\n')
    expect(await output(step('to_csv'), [{ '=cmd': 1 }])).toBe('"\'=cmd"\r\n1\r\n')
  })

  it('rejects wrong parameters and inputs before the run, with their line', () => {
    expect(problems(step('join', '{ by: x }'), { input: [] })).toMatchObject([
      { code: 'pipeline/params', message: 'join has no parameter by', line: 1 },
    ])
    expect(problems(step('select_fields'), { input: {} })[0]).toMatchObject({ code: 'pipeline/params' })
    expect(problems(step('select_fields', '{ fields: [tilte] }'), { input: { title: 1 } })).toMatchObject([
      { code: 'pipeline/params', hint: 'Did you mean title?' },
    ])
    expect(problems(step('to_csv', '{ delimiter: x }'), { input: [] })[0]).toMatchObject({
      code: 'pipeline/params',
    })
    for (const uses of ['flatten', 'join', 'to_csv'])
      expect(problems(step(uses), { input: 'text' })).toMatchObject([{ code: 'pipeline/params' }])
  })

  it('knows what comes out: a later step cannot name a member that was not selected', () => {
    const text = `
input_schema: { type: object, required: [a, b], properties: { a: { type: string }, b: { type: number } } }
output_schema: { type: object, required: [b], properties: { b: { type: string } } }
steps: [{ name: s, uses: select_fields, params: { fields: [a] }, output_schema: { type: object, required: [b] } }]`
    expect(problems(text, { input: { a: '', b: 1 } })[0]).toMatchObject({ code: 'pipeline/output' })
  })
})

describe('merge_strategy', () => {
  const text = (strategy: string) => `
steps:
  - name: both
    kind: parallel
    merge_strategy: ${strategy}
    branches:
      one: [{ name: a, uses: passthrough, input: "{{ input.one }}" }]
      two: [{ name: b, uses: passthrough, input: "{{ input.two }}" }]
  - { name: after, uses: passthrough }
`
  it('lays branches over each other, in their order', async () => {
    const input = { one: { a: 1, b: 1 }, two: { b: 2, c: 2 } }
    expect(await output(text('overwrite'), input)).toEqual({ a: 1, b: 2, c: 2 })
    expect(await output(text('keep_branches'), input)).toEqual(input)
    expect(await output(text('list'), input)).toEqual([input.one, input.two])
  })

  it('refuses a member of two branches: before the run where it is certain, else in it', async () => {
    expect(await output(text('error_on_conflict'), { one: { a: 1 }, two: { b: 2 } })).toEqual({ a: 1, b: 2 })
    const done = await run(text('error_on_conflict'), undefined, { input: { one: { a: 1 }, two: { a: 2 } } })
    expect(done).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(done)).toContain('both have the member')
    const certain = `
steps:
  - kind: parallel
    merge_strategy: error_on_conflict
    branches:
      one: [{ name: a, uses: wrap_dict, input: x }]
      two: [{ name: b, uses: wrap_dict, input: y }]
`
    expect(problems(certain)).toMatchObject([
      { code: 'pipeline/merge', line: 4, hint: expect.stringContaining('overwrite') },
    ])
  })

  it('merges maps only', () => {
    const texts = `
agents: { writer: { model: test/m } }
steps:
  - kind: parallel
    merge_strategy: overwrite
    branches: { one: { agent: writer, input: x }, two: { uses: wrap_dict, input: y } }
`
    expect(problems(texts)).toMatchObject([
      { code: 'pipeline/merge', line: 6, message: expect.stringContaining('one') },
    ])
    expect(problems(texts.replace('overwrite', 'union'))).toMatchObject([{ code: 'pipeline/enum', line: 5 }])
  })
})

describe('http_get', () => {
  let server: Server
  let base: string
  let failures = 0
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/json') response.setHeader('content-type', 'application/json').end('{"n":1}')
      else if (request.url === '/broken') response.setHeader('content-type', 'application/json').end('{"n":')
      else if (request.url === '/long') response.end('x'.repeat(1_100_000))
      else if (request.url === '/redirect') response.writeHead(302, { location: '/json' }).end()
      else if (request.url === '/busy' && failures++ === 0) response.writeHead(503).end()
      else if (request.url === '/gone') response.writeHead(404).end('not here')
      else response.end(`${request.method} ${request.url}`)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    base = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  const get = async (url: string, hosts: string | undefined = base) => {
    const compiled = compile(`steps: [{ name: get, uses: http_get, input: "{{ input }}" }]`, { input: url })
    const app = await createApp({
      env: hosts === undefined ? {} : { agentHosts: hosts },
      random: () => 0,
      capabilities: [...compiled.capabilities] as DefinedCapability[],
    })
    const result = await app.run(compiled.envelope, { draft: compiled.draft })
    await app.close()
    return result
  }

  it('returns status, type, text and, of JSON, the value', async () => {
    expect(await get(`http://${base}/json`)).toMatchObject({
      status: 'completed',
      output: { status: 200, type: 'application/json', text: '{"n":1}', json: { n: 1 } },
    })
    expect(await get(`http://${base}/a?b=c`)).toMatchObject({ output: { text: 'GET /a?b=c' } })
    const broken = await get(`http://${base}/broken`)
    expect(broken).toMatchObject({ status: 'completed', output: { text: '{"n":' } })
    expect(JSON.stringify(broken)).not.toContain('"json":')
  })

  it('tries a busy server again, and fails on errors, redirects and long answers', async () => {
    expect(await get(`http://${base}/busy`)).toMatchObject({ status: 'completed' })
    for (const [path, says] of [
      ['gone', '404'],
      ['redirect', 'redirects are not followed'],
      ['long', 'at most 1048576 bytes'],
    ]) {
      const failed = await get(`http://${base}/${path}`)
      expect(failed.status).toBe('failed')
      expect(JSON.stringify(failed)).toContain(says)
    }
  })

  it('reaches only what the guard allows', async () => {
    for (const url of [
      `http://${base}/json`,
      'https://localhost/x',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'file:///etc/passwd',
      'https://user:pass@example.com/',
      'not a url',
    ]) {
      const failed = await get(url, 'other.example')
      expect([url, failed.status]).toEqual([url, 'failed'])
      expect(JSON.stringify(failed)).toContain('address/refused')
    }
  })

  it('is untrusted: what has a side effect after it needs an approval', async () => {
    const post = {
      capability: {
        ...(compile('steps: [{ uses: passthrough }]').capabilities[0]?.capability as object),
        capabilityId: 'post',
        sideEffect: true,
        kind: 'local',
      },
      run: () => ({ ok: true }),
    } as unknown as DefinedCapability
    const compiled = compile(
      `steps: [{ name: get, uses: http_get, input: "{{ input }}" }, { name: send, uses: post }]`,
      { input: `http://${base}/json`, own: [post] },
    )
    const app = await createApp({
      env: { agentHosts: base },
      capabilities: [...(compiled.capabilities as readonly DefinedCapability[]), post],
    })
    const result = await app.run(compiled.envelope, { draft: compiled.draft })
    await app.close()
    expect(result.status).toBe('waiting')
  })
})
