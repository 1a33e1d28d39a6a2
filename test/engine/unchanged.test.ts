/** Nothing changes unless it is switched on (AROS-73): pipelines and templates without settings, or with the master switch off, read like `JSON.parse`. */
import { afterAll, describe, expect, it } from 'vitest'
import {
  type App,
  createApp,
  type DefinedCapability,
  type DraftInput,
  type Json,
  type JsonSchema,
  type ModelRequest,
  type Provider,
} from '../../src/index.ts'
import { type ArosConfig, arosConfig, compileTemplate } from '../../src/pipeline/index.ts'
import { noiseCorpus } from '../../src/testing/index.ts'
import { compile } from '../pipelines/support.ts'
import { compileSchema } from '../seams/schema.ts'
import { template } from '../templates/support.ts'

/** Damaged answers, what they are made from, and texts that are no JSON at all. */
const corpus: readonly { readonly text: string; readonly schema: JsonSchema }[] = [
  ...[...noiseCorpus({ seed: 73, count: 40, combine: false })].flatMap(({ text, schema, outcome }) => [
    { text, schema },
    ...('expected' in outcome ? [{ text: JSON.stringify(outcome.expected), schema }] : []),
  ]),
  ...['', 'plain', ' {"a": 1} ', '{"a": "1"}', '[1, 2,]', '```json\n{"a": 1}\n```', '"{\\"a\\": 1}"'].map(
    (text) => ({
      text,
      schema: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
    }),
  ),
]

/** What the plain reading makes of a text: strict JSON that satisfies the schema; a text where a text is wanted; else nothing. */
function plainly(text: string, schema: JsonSchema): { readonly value?: Json } {
  const { validate } = compileSchema(schema)
  try {
    const value = JSON.parse(text) as Json
    if (validate(value).length === 0) return { value }
  } catch {
    // No JSON: then it is a text, or nothing.
  }
  return validate(text).length === 0 ? { value: text } : {}
}

const apps: App[] = []
afterAll(() => Promise.all(apps.map((app) => app.close())))

interface Compiled {
  readonly envelope: object
  readonly draft: DraftInput
  readonly capabilities: readonly unknown[]
}

/** One run, with a model that always answers the same; which trace events it made, and how it was asked. */
async function read(text: string, { envelope, draft, capabilities }: Compiled) {
  const seen: ModelRequest[] = []
  const provider: Provider = {
    name: '*',
    async generate(request) {
      seen.push(request)
      return { kind: 'text', text, finish: 'stop', usage: {} }
    },
  }
  const app = await createApp({
    env: {},
    providers: [provider],
    capabilities: capabilities as readonly DefinedCapability[],
  })
  apps.push(app)
  const { runId, status, output } = await app.run(envelope as never, { draft })
  const events = await app.store.read(runId, 0)
  const traced = events.flatMap((event) => (event.type === 'log' ? [event.payload.event] : []))
  return {
    status,
    output,
    seen,
    traced: traced.filter((name) => /^(output|grammar|aros|reasoning)\b/.test(name)),
  }
}

const pipeline = (schema: JsonSchema, aros: ArosConfig, step = '') =>
  compile(
    `agents: { one: { model: test/m, output_schema: ${JSON.stringify(schema)} } }\nsteps: [{ name: a, agent: one${step} }]\n`,
    { input: 'x', aros },
  )

describe.each([
  ['the master switch off', { enabled: false }, ''],
  [
    'the master switch off, with any other settings',
    { enabled: false, enable_aop_default: 'full', structured_output_default: 'auto' },
    ', processing: { aop: full, structured_output: auto }',
  ],
  ['no settings, and nothing promoted', { auto_promote: false }, ''],
  ['no settings, and a step that leaves it off', {}, ', processing: { structured_output: off }'],
] as const)('a pipeline with %s', (_, settings, step) => {
  it(`reads ${corpus.length} texts like JSON.parse and a validator, in one call, silently`, async () => {
    for (const { text, schema } of corpus) {
      const expected = plainly(text, schema)
      const found = await read(text, pipeline(schema, arosConfig(settings), step))
      const about = JSON.stringify({ text, schema })
      expect(found.traced, about).toEqual([])
      expect(
        found.seen.map(({ structured = 'off' }) => structured),
        about,
      ).toEqual(['off'])
      expect(found.status, about).toBe('value' in expected ? 'completed' : 'failed')
      expect(found.output, about).toEqual(expected.value)
    }
  })
})

it('a step without a schema hands its text on to the letter, with and without settings; only a JSON string is decoded, and at level full reasoning before it is left out', async () => {
  const said = [{}, { enabled: false }, { enable_aop_default: 'full', coercion_tolerant_level: 2 }] as const
  for (const settings of said)
    for (const { text } of corpus.filter(({ text: each }) => each !== '')) {
      const plain = compile('agents: { one: { model: test/m } }\nsteps: [{ name: a, agent: one }]\n', {
        input: 'x',
        aros: arosConfig(settings),
      })
      const isFull = 'enable_aop_default' in settings
      const behind = isFull
        ? /^(?:<think>[^<]*<\/think>\s*)+(?<answer>\S[\s\S]*)$/.exec(text)?.groups
        : undefined
      const expected = behind?.['answer'] ?? text
      expect((await read(text, plain)).output).toBe(plainly(expected, { type: 'string' }).value)
    }
})

describe('a template', () => {
  const declared =
    '<task name="t"><description>List</description><output_format type="json" schema="string[]"/></task>'
  const compiled = (aros?: ArosConfig): Compiled => {
    const result = compileTemplate(template(declared), {}, aros === undefined ? {} : { aros })
    if (!result.ok) throw new Error('It compiles')
    return result.compiled
  }
  const processing = (aros?: ArosConfig) => {
    const { nodes } = compiled(aros).draft as { nodes: readonly { data?: { processing?: Json } }[] }
    return nodes[0]?.data?.processing
  }

  it('is the same without settings and with settings that are not set', () => {
    expect(compiled(arosConfig())).toEqual(compiled())
    expect(processing()).toEqual({ aop: 'minimal' })
  })

  it('takes from proviso.toml what is set there, and nothing else', () => {
    const said = {
      structured_output_default: 'auto',
      'repair.max_attempts': 1,
      coercion_tolerant_level: 2,
    } as const
    expect(processing(arosConfig(said))).toEqual({
      aop: 'minimal',
      structured_output: 'auto',
      repair: { max_attempts: 1 },
      coercion: { tolerant_level: 2 },
    })
    expect(processing(arosConfig({ enable_aop_default: 'full' }))).toEqual({ aop: 'full' })
  })

  it('reads strictly with the master switch off, and tolerantly without a setting', async () => {
    const fenced = 'Sure:\n```json\n["a"]\n```'
    expect(await read(fenced, compiled())).toMatchObject({ status: 'completed', output: ['a'] })
    const off = compiled(arosConfig({ enabled: false }))
    expect(await read(fenced, off)).toMatchObject({ status: 'failed', traced: [] })
    expect(await read('["a"]', off)).toMatchObject({ status: 'completed', output: ['a'], traced: [] })
  })
})
