/** The reasoning precheck as a user meets it: own YAML, `proviso run`, models over HTTP (AROS-31 to AROS-34). */
import { expect, it } from 'vitest'
import { file, pathInFolder } from '../cli/run-support.ts'
import { serveModel } from '../models/serve-model.ts'
import { runCommand } from '../support.ts'

interface Asked {
  readonly model: string
  readonly system: string
  readonly prompt: string
}

interface Given {
  /** Keys of `reasoning_precheck`. */
  readonly precheck: string
  readonly input?: string
  /** Further keys of the step. */
  readonly step?: string
  readonly answer: (asked: Asked) => string
}

let runs = 0

const planned = 'Brew it. <thinking>boil, then steep</thinking>'

async function run({ precheck, input = planned, step = '', answer }: Given) {
  const asked: Asked[] = []
  const server = await serveModel(({ body }) => {
    const { model, messages } = body as unknown as {
      model: string
      messages: readonly { role: string; content: string }[]
    }
    const said = (role: string) => messages.find((each) => each.role === role)?.content ?? ''
    const request = { model, system: said('system'), prompt: said('user') }
    asked.push(request)
    return { text: answer(request) }
  })
  const path = file(
    `precheck-${++runs}.yaml`,
    `name: shop
agents:
  brewer:
    model: "compatible/${server.url}#writer"
    system_prompt: You brew tea.
    processing: { reasoning_precheck: { enabled: true, ${precheck} } }
  checker: { model: "compatible/${server.url}#checker", system_prompt: You check plans. }
steps:
  - { name: brew, agent: brewer, input: "${input}"${step} }
`,
  )
  const store = `sqlite:${pathInFolder(`precheck-${runs}.db`)}`
  const done = await runCommand(['run', path, '--input', 'a cup', '--json', '--store', store])
  const events = done.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ type, payload }) => type === 'log' && payload.event.includes('reasoning'))
    .map(({ payload }) => `${payload.event} ${payload.payload?.reason ?? ''}`.trim())
  const of = (model: string) => asked.filter((each) => each.model === model)
  return { code: done.code, stderr: done.stderr, events, writer: of('writer'), checker: of('checker') }
}

const checked =
  'validator_agent: agents.checker, inject_feedback: prepend, retry_guidance_prefix: "Guidance: "'

it('the checklist comes first: where a key is missing no validator is asked (AROS-31)', async () => {
  const done = await run({
    precheck: `${checked}, required_context_keys: [brand]`,
    answer: () => 'Tea.',
  })
  expect(done.code, done.stderr).toBe(0)
  expect(done.events).toEqual(['aros.reasoning.precheck.fail checklist'])
  expect(done.checker).toEqual([])
  expect(done.writer[0]?.prompt).toMatch(/^Guidance: Missing: brand\n/)
})

it.each([
  ['no schema', '{}', 'a schema', '"Tea."'],
  ['an object without fields', '{ type: object }', 'fields in the schema', '{"cup":"Tea."}'],
  [
    'a required field that is not described',
    '{ type: object, properties: { pot: { type: string } }, required: [cup, pot] }',
    'a schema for "cup"',
    '{"cup":"Tea.","pot":"warm"}',
  ],
])('the checklist reads the output schema: %s (AROS-31)', async (_, schema, missing, said) => {
  const done = await run({ precheck: checked, step: `, output_schema: ${schema}`, answer: () => said })
  expect(done.code, done.stderr).toBe(0)
  expect(done.events).toEqual(['aros.reasoning.precheck.fail checklist'])
  expect(done.checker).toEqual([])
  expect(done.writer[0]?.prompt.split('\n')[0]).toBe(`Guidance: Missing: ${missing}`)
})

it('a schema that describes every required field passes the checklist (AROS-31)', async () => {
  const schema = '{ type: object, properties: { cup: { type: string } }, required: [cup] }'
  const done = await run({
    precheck: checked,
    step: `, output_schema: ${schema}`,
    answer: ({ model }) => (model === 'checker' ? '{"ok": true}' : '{"cup":"Tea."}'),
  })
  expect(done.code, done.stderr).toBe(0)
  expect(done.events).toEqual(['reasoning.validation', 'aros.reasoning.precheck.pass validator'])
  expect(done.checker).toHaveLength(1)
})

it('a plan is validated, and what is wrong with it guides the step (AROS-32)', async () => {
  const verdict = '{"is_valid": false, "feedback": "Warm the pot"}'
  const done = await run({
    precheck: checked,
    answer: ({ model }) => (model === 'checker' ? verdict : 'Tea.'),
  })
  expect(done.code, done.stderr).toBe(0)
  expect(done.events).toEqual(['reasoning.validation', 'aros.reasoning.precheck.fail validator'])
  expect(JSON.parse(done.checker[0]?.prompt ?? '')).toMatchObject({ plan: 'boil, then steep' })
  expect(done.writer).toHaveLength(1)
  expect(done.writer[0]?.prompt).toMatch(/^Guidance: Warm the pot\n/)
})

it('without a plan nothing is validated (AROS-32)', async () => {
  const done = await run({ precheck: checked, input: 'Brew it.', answer: () => 'Tea.' })
  expect(done.code, done.stderr).toBe(0)
  expect(done.checker).toEqual([])
  expect(done.writer[0]?.prompt).not.toContain('Guidance')
})

it.each([
  [0.9, 'pass'],
  [0.3, 'fail'],
])('a score of %d is held to the threshold: %s (AROS-33)', async (score, verdict) => {
  const done = await run({
    precheck: `${checked}, score_threshold: 0.7`,
    answer: ({ model }) =>
      model === 'checker' ? `{"ok": true, "score": ${score}, "feedback": "Warm the pot"}` : 'Tea.',
  })
  expect(done.code, done.stderr).toBe(0)
  expect(done.events.at(-1)).toMatch(new RegExp(`^aros\\.reasoning\\.precheck\\.${verdict} `))
  expect(done.writer[0]?.prompt.startsWith('Guidance: ')).toBe(verdict === 'fail')
})

it.each([
  ['agree', 'boil the water', 0],
  ['disagree', 'buy a kettle first', 1],
])(
  'two short plans that %s: the validator is asked only where they differ (AROS-34)',
  async (_, second, asked) => {
    const done = await run({
      precheck: `${checked}, consensus_samples: 2`,
      input: 'Brew it.',
      answer: ({ model, system, prompt }) => {
        if (model === 'checker') return '{"ok": false, "feedback": "Choose"}'
        if (!system.includes('five short lines')) return 'Tea.'
        return prompt.includes('Sample 1') ? 'boil the water' : second
      },
    })
    expect(done.code, done.stderr).toBe(0)
    expect(done.checker).toHaveLength(asked)
    expect(done.writer.filter(({ system }) => system.includes('five short lines'))).toHaveLength(2)
    expect(done.writer.at(-1)?.prompt.startsWith('Guidance: Choose')).toBe(asked === 1)
  },
)

it('two short plans that disagree are only reported with mode observe (AROS-34)', async () => {
  const done = await run({
    precheck: `${checked}, consensus_samples: 2, mode: observe`,
    input: 'Brew it.',
    answer: ({ model, system, prompt }) => {
      if (model === 'checker') return '{"ok": false, "feedback": "Choose"}'
      if (!system.includes('five short lines')) return 'Tea.'
      return prompt.includes('Sample 1') ? 'boil the water' : 'buy a kettle first'
    },
  })
  expect(done.code, done.stderr).toBe(0)
  expect(done.checker).toEqual([])
  expect(done.events).toContain('aros.reasoning.consensus')
  expect(done.writer).toHaveLength(3)
  expect(done.writer.at(-1)?.prompt).not.toContain('Guidance')
})
