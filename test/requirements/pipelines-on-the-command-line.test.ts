/** What the specifications say of reading and falling back, as a user meets it: a pipeline in YAML, `proviso run`, a model over HTTP. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { file, pathInFolder } from '../cli/run-support.ts'
import type { Reply } from '../models/openai-server.ts'
import { serveModel } from '../models/serve-model.ts'
import { runCommand } from '../support.ts'

interface Log {
  readonly event: string
  readonly payload: { readonly [key: string]: unknown }
}

let count = 0

/** Runs one step whose agent answers with these texts; events are those of the run. */
async function run(
  texts: readonly string[],
  {
    processing,
    schema,
    args = [],
    step = '',
  }: { processing: string; schema: string; args?: readonly string[]; step?: string },
) {
  const server = await serveModel(texts.map((text): Reply => ({ text })))
  const path = file(
    `p${++count}.yaml`,
    `name: reading
agents:
  reader: { model: "compatible/${server.url}#m", system_prompt: "Count the cups.", output_schema: ${schema} }
steps:
  - { name: read, agent: reader, processing: ${processing}, ${step} }
`,
  )
  const store = ['--store', `sqlite:${pathInFolder(`p${count}.db`)}`]
  const done = await runCommand(['run', path, '--input', 'tea', '--json', ...store, ...args])
  const events = done.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { type: string; payload: { status?: string; output?: unknown } & Log })
  const logs = events.filter(({ type }) => type === 'log').map(({ payload }) => payload as Log)
  const { status, output } = events.find(({ type }) => type === 'complete')?.payload ?? {}
  return { ...done, status, output, logs, seen: server.seen.map(({ body }) => JSON.stringify(body)) }
}

const cups = '{ type: object, properties: { cups: { type: integer } }, required: [cups] }'
const named = (logs: readonly Log[], event: string) =>
  logs.filter((each) => each.event === event).map(({ payload }) => payload)
const twice = (value: unknown) => JSON.stringify(JSON.stringify(value))

describe('reading (AROS-12, 13, 26, 54, 56)', () => {
  it('full: prose, a fence and double encoding are taken off, "42" becomes 42, and every change is an event', async () => {
    const said = `Here's what I found:\n\`\`\`json\n${JSON.stringify(JSON.stringify({ cups: '42' }))}\n\`\`\`\nEnjoy!`
    const done = await run([said], { processing: '{ structured_output: off, aop: full }', schema: cups })
    expect(done).toMatchObject({ code: 0, status: 'completed', output: { cups: 42 } })
    const attempts = named(done.logs, 'output.coercion.attempt')
    for (const each of attempts) {
      expect(each).toMatchObject({ reason: expect.any(String) })
      expect(['extract', 'tolerant', 'syntactic', 'semantic', 'custom']).toContain(each['stage'])
    }
    expect(attempts).toContainEqual(
      expect.objectContaining({ stage: 'semantic', expected_type: 'object', actual_type: 'string' }),
    )
    const successes = named(done.logs, 'output.coercion.success')
    expect(successes).toContainEqual(
      expect.objectContaining({ stage: 'extract', transforms: ['surroundings'] }),
    )
    expect(successes.flatMap(({ transforms }) => transforms)).toContain('str->int')
  })

  it('minimal: removes what is around it, changes no type, and says at which stage it failed', async () => {
    const processing = '{ structured_output: off, aop: minimal }'
    const fine = await run([`So: ${twice({ cups: 42 })}`], { processing, schema: cups })
    expect(fine).toMatchObject({ code: 0, output: { cups: 42 } })
    const typed = await run(['So: {"cups": "42"}'], { processing, schema: cups })
    expect(typed).toMatchObject({ code: 3, status: 'failed' })
    expect(named(typed.logs, 'output.coercion.fail')).toContainEqual(
      expect.objectContaining({
        stage: 'semantic',
        error_preview: expect.stringContaining('must be integer'),
      }),
    )
  })

  it('unfolds no deeper than max_unescape_depth', async () => {
    const deep = JSON.stringify(twice({ cups: 42 }))
    const under = (depth: number) => ({
      processing: `{ structured_output: off, aop: minimal, coercion: { max_unescape_depth: ${depth} } }`,
      schema: cups,
    })
    expect(await run([deep], under(3))).toMatchObject({ code: 0, output: { cups: 42 } })
    expect(await run([deep], under(1))).toMatchObject({ code: 3, status: 'failed' })
  })

  it.each([
    ['{ type: array, items: { type: integer } }', [1, 2]],
    [cups, { cups: 1 }],
  ])('the root type of the schema decides between kinds: %s', async (schema, output) => {
    const processing = '{ structured_output: off, aop: minimal }'
    const done = await run(['{"cups": 1} and [1, 2]'], { processing, schema })
    expect(done).toMatchObject({ code: 0, output })
  })

  it('a clean answer has no event of any stage', async () => {
    const done = await run(['{"cups": 42}'], {
      processing: '{ structured_output: off, aop: full }',
      schema: cups,
    })
    expect(done).toMatchObject({ code: 0, output: { cups: 42 } })
    expect(done.logs.filter(({ event }) => event.startsWith('output.coercion'))).toEqual([])
  })
})

it('conversions of your own are code from a module (AROS-23)', async () => {
  const module = file(
    'stages.mjs',
    `export const words = { name: 'words', run: (value) => value?.cups === 'two' ? { ...value, cups: 2 } : undefined }\n`,
  )
  const processing = '{ structured_output: off, aop: full, stages: [words] }'
  const done = await run(['{"cups": "two"}'], { processing, schema: cups, args: ['--use', module] })
  expect(done).toMatchObject({ code: 0, output: { cups: 2 } })
  expect(named(done.logs, 'output.coercion.success')).toContainEqual(
    expect.objectContaining({ stage: 'custom' }),
  )
})

describe('falling back (FSD-08, 14, 15, 16)', () => {
  const broken = 'Two cups, I would say.'
  const processing = (more: string) =>
    `{ structured_output: auto, repair: { enable_llm: false }, fallback: { ${more} } }`

  it('asks again in stricter words, with nothing of the answer that was not accepted', async () => {
    const done = await run([broken, '{"cups": 2}'], { processing: processing('max_stages: 1'), schema: cups })
    expect(done).toMatchObject({ code: 0, output: { cups: 2 } })
    expect(done.seen).toHaveLength(2)
    expect(done.seen[1]).toContain('Count the cups')
    expect(done.seen[1]).not.toContain('I would say')
    expect(done.seen[1]).toContain('Return only JSON')
    expect(done.seen[0]).not.toContain('Return only JSON')
  })

  it('then extracts from the text with the same schema', async () => {
    const done = await run([broken, broken, '{"cups": 2}'], {
      processing: processing('max_stages: 2'),
      schema: cups,
    })
    expect(done).toMatchObject({ code: 0, output: { cups: 2 } })
    expect(done.seen).toHaveLength(3)
    expect(done.seen[2]).toContain('extract structured data')
    expect(done.seen[2]).toContain('I would say')
    const formats = done.seen.map((body) => JSON.parse(body).response_format)
    expect(JSON.stringify(formats[0])).toContain('cups')
    expect(formats[2]).toEqual(formats[0])
    expect(named(done.logs, 'aros.fallback.stage').map(({ stage }) => stage)).toContain('extractor')
  })

  it('degrades to the text only where the step says so, makes a minimal object, and flags it', async () => {
    const note = '{ type: object, properties: { note: { type: string } }, required: [note] }'
    const off = await run(Array(4).fill(broken), { processing: processing('max_stages: 3'), schema: note })
    expect(off).toMatchObject({ code: 3, status: 'failed' })
    const on = await run(Array(4).fill(broken), {
      processing: processing('max_stages: 3, degrade_to_string: true'),
      schema: note,
    })
    expect(on).toMatchObject({ code: 0, output: { note: broken } })
    expect(on.stdout).toContain('"degraded"')
  })

  it('keeps the text where the schema accepts a text', async () => {
    const done = await run(Array(4).fill(broken), {
      processing: `{ structured_output: auto, aop: off, repair: { enable_llm: false }, fallback: { max_stages: 3, degrade_to_string: true } }`,
      schema: '{ type: [object, string], properties: { note: { type: string } }, required: [note] }',
    })
    expect(done).toMatchObject({ code: 0, output: broken })
    expect(done.stdout).toContain('"degraded"')
  })

  it('never degrades a step with a RAO contract', async () => {
    const note = '{ type: object, properties: { note: { type: string } }, required: [note] }'
    const done = await run(Array(4).fill(broken), {
      processing: processing('max_stages: 3, degrade_to_string: true'),
      schema: note,
      step: 'contract: true',
    })
    expect(done).toMatchObject({ code: 3, status: 'failed' })
    expect(done.stdout).not.toContain('"degraded"')
  })

  it.each([
    ['off', 0, { cups: 'two' }],
    ['validate', 3, undefined],
  ])('enforcement %s makes one call and ends with %i', async (enforcement, code, output) => {
    const done = await run(['{"cups": "two"}'], {
      processing: `{ structured_output: auto, enforcement: ${enforcement} }`,
      schema: cups,
    })
    expect(done.code).toBe(code)
    expect(done.output).toEqual(output)
    expect(done.seen).toHaveLength(1)
  })
})

it('streamed structured steps are aggregated, and read at the end of the stream (FSD-13)', async () => {
  const settings = file('proviso.toml', '[aros.streaming]\naggregate_structured = false\n')
  const streamed = '{ structured_output: auto, streaming: { enabled: true } }'
  const said = ['Well: {"cups": 42} there.']
  const whole = await run(said, { processing: streamed, schema: cups })
  expect(whole).toMatchObject({ code: 0, output: { cups: 42 } })
  const off = await run(said, {
    processing: streamed,
    schema: cups,
    args: ['--config', settings],
  })
  expect(off).toMatchObject({ code: 0, output: { cups: 42 } })
  const streams = (seen: readonly string[]) => seen.map((body) => JSON.parse(body).stream === true)
  expect(streams(whole.seen)).toEqual([true])
  expect(streams(off.seen)).toEqual([false])
})

it('telemetry is concise unless it is asked for, and validate needs no run (FSD-50)', async () => {
  const server = await serveModel(() => ({ text: 'So: {"cups": "42"}' }))
  const path = file(
    'concise.yaml',
    `name: concise
agents: { reader: { model: "compatible/${server.url}#m", output_schema: ${cups} } }
steps: [{ name: read, agent: reader, processing: { structured_output: off, aop: full } }]
`,
  )
  expect((await runCommand(['validate', path])).code).toBe(0)
  expect(server.seen).toHaveLength(0)
  const store = ['--store', `sqlite:${join(pathInFolder('concise.db'))}`]
  const quiet = await runCommand(['run', path, '--input', 'x', ...store])
  expect(quiet).toMatchObject({ code: 0, stdout: '{\n  "cups": 42\n}\n' })
  expect(quiet.stderr).not.toContain('output.coercion')
  const loud = await runCommand(['run', path, '--input', 'x', '--set', 'telemetry.verbose=true', ...store])
  expect(loud.stderr).toContain('output.coercion')
})
