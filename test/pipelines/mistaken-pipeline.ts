/**
 * Random pipelines with mistakes in them: a pipeline of `randomPipeline`, with agents, imports and fallbacks added, and
 * with some places made wrong. Some mistakes can be fixed, some cannot, and some changes are no mistakes at all.
 */

import type { Json } from '../../src/index.ts'
import type { Random } from '../random.ts'
import { isObject } from '../seams/base.ts'
import { randomPipeline } from './random-pipeline.ts'

type Mutable = { [key: string]: Json }

export interface MistakenPipeline {
  /** As JSON, which is YAML. */
  readonly text: string
  /** The pipelines that it imports, by path. */
  readonly imports: Readonly<Record<string, string>>
  /** What was changed, for messages. */
  readonly changes: readonly string[]
}

const text = { type: 'string' }
const titled = { type: 'object', required: ['title'], properties: { title: text } }
const closedInput = {
  type: 'object',
  required: ['n', 'items', 'none'],
  properties: { n: { type: 'integer' }, items: { type: 'array' }, none: { type: 'array' } },
  additionalProperties: false,
}
const words = ['previous_step', 'steps', 'context', 'input'] as const

/** Changes to one step; each returns what it has done, or nothing where it does not apply. */
type Change = (step: Mutable, random: Random) => string | undefined

const agentStep = (step: Mutable): boolean => typeof step['agent'] === 'string'
const callStep = (step: Mutable): boolean => step['kind'] === undefined

function misspell(word: string, random: Random): string {
  const at = random.int(1, word.length - 2)
  return word.slice(0, at) + word.slice(at + 1)
}

function put(step: Mutable, key: string, value: Json): string {
  step[key] = value
  return `${step['name']}: ${key} = ${JSON.stringify(value)}`
}

const changes: readonly Change[] = [
  // Roots and names in templates.
  (step, random) =>
    callStep(step) ? put(step, 'input', `{{ ${misspell(random.pick(words), random)}.n }}`) : undefined,
  (step, random) =>
    callStep(step)
      ? put(
          step,
          'input',
          `{{ ${random.pick(['steps.nowhere.output', 'context.nowhere', 'item', 'iteration'])} }}`,
        )
      : undefined,
  (step, random) =>
    callStep(step)
      ? put(
          step,
          'input',
          `{{ input${random.pick(['', '.n', '.items'])} | ${random.pick(['uper', 'upper'])} }}`,
        )
      : undefined,
  (step) => (callStep(step) ? put(step, 'input', '{% if x %}') : undefined),
  (step) => (callStep(step) ? put(step, 'input', '{{ context.nowhere | default("x") }}') : undefined),
  (step) => (callStep(step) ? put(step, 'input', '{{ this }}') : undefined),
  // Who does it.
  (step, random) =>
    callStep(step) && !agentStep(step)
      ? put(step, 'uses', random.pick(['clac', 'agents.unknown', 'imports.nowhere', 'imports.sub']))
      : undefined,
  (step, random) =>
    agentStep(step) ? put(step, 'agent', random.pick(['unknown', 'namer', 'writer'])) : undefined,
  (step, random) =>
    agentStep(step)
      ? put(
          step,
          'fallback',
          random.pick(['agents.namer', 'agents.unknown', 'calc', 'clac', 'wrap_dict', 'imports.sub']),
        )
      : undefined,
  (step) => (callStep(step) && agentStep(step) ? put(step, 'uses', 'calc') : undefined),
  (step) =>
    step['kind'] === 'router' && isObject(step['router'])
      ? put(step['router'] as Mutable, 'router_agent', 'agents.pickr')
      : undefined,
  // The wrong kind of value.
  (step, random) => put(step, 'kind', random.pick(['lop', 'cache', 'parallel', 'map', 'hitl'])),
  (step, random) => (callStep(step) ? put(step, 'timeout', random.pick<Json>(['soon', -1, 3])) : undefined),
  (step, random) => (callStep(step) ? put(step, 'max_retries', random.pick<Json>([1.5, 2, '2'])) : undefined),
  (step) => (isObject(step['map']) ? put(step['map'] as Mutable, 'iterable_input', 'context.k0') : undefined),
  (step) => (isObject(step['loop']) ? put(step['loop'] as Mutable, 'max_loops', 'three') : undefined),
  (step, random) =>
    step['condition'] === undefined
      ? undefined
      : put(
          step,
          'condition',
          random.pick<Json>([
            { '==': [{ var: 'contxt.n' }, 1] },
            { '=~': [1, 2] },
            { '<': [{ var: 'context.n' }, 1] },
          ]),
        ),
  (step) => (step['default_branch'] === undefined ? undefined : put(step, 'default_branch', 'nowhere')),
  (step) => put(step, 'nmae', 'x'),
  // Parameters, schemas, settings.
  (step, random) =>
    callStep(step) && step['uses'] !== 'calc' && !agentStep(step)
      ? put(step, 'params', random.pick<Json>([{ kye: 'a' }, { key: 'a' }]))
      : undefined,
  (step, random) =>
    callStep(step) && !agentStep(step)
      ? `${put(step, 'uses', 'extract_from_text')} ${put(step, 'params', random.pick<Json>([{}, { schema: titled }]))}`
      : undefined,
  (step, random) =>
    agentStep(step)
      ? put(step, 'validate_fields', random.pick<Json>([['title'], ['nowhere'], true]))
      : undefined,
  (step, random) =>
    agentStep(step)
      ? put(step, 'output_schema', random.pick<Json>([{ type: 'objekt' }, titled, text]))
      : undefined,
  (step, random) =>
    agentStep(step)
      ? put(
          step,
          'processing',
          random.pick<Json>([
            { structured_output: 'auto' },
            { structured_output: 'yes' },
            { aop: 'full', coercion: { allow: { integer: ['str->itn'] } } },
            { reasoning_precheck: { enabled: true, validator_agent: 'agents.unknown' } },
          ]),
        )
      : undefined,
  (step, random) => (agentStep(step) ? put(step, 'auto_approve_above', random.pick([0.2, 0.9])) : undefined),
  (step, random) =>
    agentStep(step)
      ? `${put(step, 'contract', true)} ${put(step, 'suppress_below', random.pick([0.1, 0.95]))}`
      : undefined,
  // Keys that act on some steps and have no effect on others.
  (step, random) => {
    if (!callStep(step)) return undefined
    const [key, value] = random.pick<readonly [string, Json]>([
      ['contract', true],
      ['constraints', { no_execution_authority: true }],
      ['on_fail', 'ask'],
      ['timeout', 3],
      ['max_retries', 1],
      ['usage_limits', { max_calls: 2 }],
      ['validate_fields', ['title']],
      ['output_schema', random.pick<Json>([titled, text])],
      ['processing', random.pick<Json>([{ aop: 'full' }, { schema: titled }])],
      ['meta', { processing: { structured_output: 'auto' } }],
      ['fallback', random.pick(['agents.namer', 'agents.writer', 'calc', 'imports.sub'])],
    ])
    return put(step, key, value)
  },
  (step, random) =>
    callStep(step) && !agentStep(step)
      ? `${put(step, 'uses', 'imports.sub')} ${put(step, 'input', random.pick(['forbidden', 'tea']))}`
      : undefined,
  // The context.
  (step, random) => put(step, 'sink_to', random.pick(['scratchpad', 'scratchpad.x', 'k0', 'fresh'])),
  (step) => (callStep(step) ? put(step, 'updates_context', true) : undefined),
  (step, random) => (callStep(step) ? put(step, 'mergeable_output', random.chance(0.5)) : undefined),
]

/** Only where the schema of the input rules it out: else the input decides. */
const withClosedInput: readonly Change[] = [
  (step) => (callStep(step) ? put(step, 'input', 'So: {{ previous_step.output }}') : undefined),
  (step) => (callStep(step) ? put(step, 'input', '{{ input.nowhere }}') : undefined),
  (step) =>
    step['condition'] === undefined
      ? undefined
      : put(step, 'condition', { '==': [{ var: 'input.nowhere' }, 1] }),
]

/** Every step, those inside of others too. */
function stepsIn(list: readonly Json[]): Mutable[] {
  return list.flatMap((given) => {
    const step = given as Mutable
    const parts = [step['branches'], step['map'], step['loop'], step['router']].filter(isObject) as Mutable[]
    const inner = parts.flatMap((part) => [
      part['body'],
      ...Object.values((part['branches'] ?? part) as Mutable),
    ])
    return [step, ...inner.filter(Array.isArray).flatMap((each) => stepsIn(each as Json[]))]
  })
}

export function mistakenPipeline(random: Random, mistakes: number): MistakenPipeline {
  const pipeline = JSON.parse(JSON.stringify(randomPipeline(random))) as Mutable
  const isClosed = random.chance(0.5)
  if (isClosed) pipeline['input_schema'] = closedInput
  const possible = isClosed ? [...changes, ...withClosedInput] : changes
  if (random.chance(0.2)) pipeline['output_schema'] = random.pick<Json>([text, titled, true])
  pipeline['agents'] = {
    picker: { model: 'test/m' },
    writer: { model: 'test/m' },
    namer: { model: 'test/m', output_schema: titled },
  }
  const imports: Record<string, string> = {}
  const all = stepsIn(pipeline['steps'] as Json[])
  for (const step of all) {
    if (step['kind'] !== undefined || !random.chance(0.3)) continue
    delete step['uses']
    delete step['params']
    step['agent'] = random.pick(['writer', 'namer'])
    if (random.chance(0.3)) step['fallback'] = random.pick(['agents.writer', 'agents.namer', 'calc'])
  }
  if (random.chance(0.4)) {
    const sub = {
      ...(random.chance(0.5) && { input_schema: { not: { const: 'forbidden' } } }),
      ...(random.chance(0.3) && { output_schema: random.pick<Json>([text, titled, true]) }),
      ...(random.chance(0.3) && { limits: { max_calls: 1 } }),
      agents: { writer: { model: 'test/m' } },
      steps: [
        {
          name: 'a',
          agent: 'writer',
          input: random.pick(['{{ input }}', '{{ imput }}', '{{ previous_step.n }}']),
        },
      ],
    }
    imports['sub.yaml'] = JSON.stringify(sub)
    pipeline['imports'] = { sub: 'sub.yaml' }
  }
  const done: string[] = []
  for (let n = 0; n < mistakes; n++) {
    const said = random.pick(possible)(random.pick(all), random)
    if (said !== undefined) done.push(said)
  }
  return { text: JSON.stringify(pipeline, null, 1), imports, changes: done }
}
