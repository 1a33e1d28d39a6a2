/** Property: after a fix, the linter reports nothing fixable, on generated pipelines in every style. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readYaml } from '../yaml/read-yaml.ts'
import { fixText } from './fix.ts'
import { lint } from './lint.ts'
import { fixableRules } from './rule-table.ts'

const schemas = [
  { type: 'string' },
  { type: 'number' },
  { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  { type: 'array', items: { type: 'string' } },
  { anyOf: [{ type: 'object' }, { type: 'object', properties: { 'a b': true } }] },
]
const agents = Object.fromEntries(
  schemas.map((output_schema, index) => [
    `agent${index}`,
    { model: 'openai/gpt-4o-mini', system_prompt: 'Do it.\nWell: "so".', output_schema },
  ]),
)

const inputs = [
  undefined,
  'Plain words',
  '{{ previous_step }}',
  'About {{ previous_step.output }}: {{ previous_step.output | uper }}',
  'Café: {{ context.topic | trimm }}\n  more lines\n# no comment\n',
  'Again {{ context.scratchpad.kept | upper }}, {{ context.scratchpad }}',
  { topic: '{{ context.topic }}', more: ['{{ previous_step }}'] },
]

const step = fc.record(
  {
    agent: fc.constantFrom(...Object.keys(agents)),
    input: fc.constantFrom(...inputs),
    updates_context: fc.boolean(),
    mergeable_output: fc.constantFrom(undefined, undefined, true, false),
    processing: fc.constantFrom(
      undefined,
      undefined,
      null,
      {},
      { aop: 'full' },
      { structured_output: 'off' },
    ),
    timeout: fc.constantFrom(undefined, 30),
    sink_to: fc.constantFrom(
      undefined,
      undefined,
      undefined,
      'kept',
      'scratchpad.kept',
      'scratchpad',
      'plan',
    ),
  },
  { requiredKeys: ['agent'] },
)
const list = (item: fc.Arbitrary<object>) => fc.array(item, { minLength: 1, maxLength: 4 })
const container = fc.oneof(
  fc.record({ kind: fc.constant('parallel'), branches: fc.record({ left: list(step), right: list(step) }) }),
  fc.record({
    kind: fc.constant('loop'),
    loop: fc.record({ body: list(step), max_loops: fc.constant(2) }),
  }),
)
const pipeline = list(fc.oneof({ arbitrary: step, weight: 4 }, { arbitrary: container, weight: 1 }))

const style = fc.record({
  collectionStyle: fc.constantFrom('any', 'block', 'flow'),
  indent: fc.constantFrom(2, 4, 7),
  indentSeq: fc.boolean(),
  lineWidth: fc.constantFrom(0, 40, 80),
  defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL'),
  defaultKeyType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE'),
} as const)

const layout = fc.record({
  crlf: fc.boolean(),
  comments: fc.boolean(),
  lastNewline: fc.boolean(),
  bom: fc.boolean(),
  /** Equal parts become anchors and aliases. */
  shared: fc.boolean(),
})

it.each([20261116, 7])('leaves nothing that a fixer is for, and changes nothing else (%i)', (seed) => {
  const fixes: Record<string, number> = {}
  fc.assert(
    fc.property(pipeline, style, layout, (steps, options, { crlf, comments, lastNewline, bom, shared }) => {
      const whole = { version: '0.1', context: { plan: { day: 1 } }, agents, steps: name(steps) }
      let text = stringify(shared ? whole : JSON.parse(JSON.stringify(whole)), {
        ...options,
        defaultKeyType: options.defaultKeyType,
      })
      if (comments && options.defaultStringType !== 'BLOCK_LITERAL')
        text = text.replaceAll(
          /^(.*(?:agent|updates_context|timeout)"?: [^\n{}[\]|>]*[^\n{}[\]|>,])$/gm,
          '$1 # said',
        )
      if (!lastNewline) text = text.trimEnd()
      if (crlf) text = text.replaceAll('\n', '\r\n')
      if (bom) text = `\ufeff${text}`
      const { text: fixed, applied } = fixText(text)
      for (const { rule } of applied) fixes[rule] = (fixes[rule] ?? 0) + 1
      // A fix leaves values alone that are shared with correct steps, and names that only the author can
      // choose.
      const found = findFixable(fixed)
      const stays = ({ code, cannotFix = '' }: (typeof found)[number]) =>
        code === 'V-C2' ? cannotFix !== '' : cannotFix.includes('shared through &')
      expect(
        found.filter((issue) => !stays(issue)),
        fixed,
      ).toEqual([])
      expect(shared || found.every(({ code }) => code === 'V-C2')).toBe(true)
      expect(count(fixed, '# said')).toBe(count(text, '# said'))
      expect(/(?<!\r)\n/.test(fixed)).toBe(/(?<!\r)\n/.test(text) || (!crlf && fixed.includes('\n')))
      expect(fixText(fixed).text).toBe(fixed)
    }),
    { seed, numRuns: 100 },
  )
  // Every fixer was exercised often enough.
  for (const { id } of fixableRules) expect(fixes[id], id).toBeGreaterThan(10)
})

function name(steps: readonly object[], prefix = 's'): object[] {
  return steps.map((given, index) => {
    const own = `${prefix}${index}`
    const { branches, loop, ...rest } = given as {
      branches?: Record<string, object[]>
      loop?: { body: object[]; max_loops: number }
    }
    return {
      ...(index % 2 === 0 ? { name: own, ...rest } : { ...rest, name: own }),
      ...(branches && {
        branches: Object.fromEntries(
          Object.entries(branches).map(([key, inside]) => [key, name(inside, `${own}_${key}`)]),
        ),
      }),
      ...(loop && { loop: { ...loop, body: name(loop.body, `${own}_body`) } }),
    }
  })
}

function findFixable(text: string) {
  const read = readYaml(text)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  const rules = new Set<string>(fixableRules.map(({ id }) => id))
  return lint(read.document)
    .issues.filter(({ code }) => rules.has(code))
    .map(({ code, step, message, cannotFix }) => ({ code, step, message, cannotFix }))
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}
