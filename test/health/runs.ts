/** Runs with every ailment that a health report knows, made from events as an engine appends them. */
import type { Store } from '../../src/index.ts'
import {
  type Attempt,
  attemptEvents,
  newRun,
  planEvent,
  startEvent,
  type TraceEntry,
} from '../seams/stores.ts'

export const now = Date.parse('2026-03-02T12:00:00Z')
const hour = 3_600_000

export const asked: TraceEntry = ['aros.soe.enabled', { mode: 'auto', applied: 'json_schema' }]
export const skipped: TraceEntry = [
  'aros.soe.skipped',
  { mode: 'auto', reason: 'the provider has no JSON mode' },
]
export const read = (stage: string, ...transforms: string[]): TraceEntry => [
  'output.coercion.success',
  { stage, transforms },
]
const precheck = (verdict: 'pass' | 'fail' | 'skipped'): TraceEntry => [
  `aros.reasoning.precheck.${verdict}`,
  {},
]
const createEntry = (stage: string, result: string, more = {}): TraceEntry =>
  stage === 'llm'
    ? [`aros.repair.${result}`, { stage, ...more }]
    : ['aros.fallback.stage', { stage, result, ...more }]
const call = { input_tokens: 400, output_tokens: 60 }

const price = (index: number) =>
  ({
    value: {},
    repairs: [{ stage: 'semantic', rule: 'str->float', pointer: `/items/${index}/price` }],
  }) as const

/** What happens at a step, so many hours before now. */
const ailments: readonly (Attempt & { readonly hoursAgo: readonly number[] })[] = [
  // Prices come as text, and more often of late.
  {
    nodeId: 'read-invoice',
    model: 'openai/gpt-5-mini',
    trace: [asked, read('semantic', 'str->float')],
    output: price(0),
    hoursAgo: [20, 9, 7, 5, 4, 3, 2, 1],
  },
  { nodeId: 'read-invoice', model: 'openai/gpt-5-mini', trace: [asked], hoursAgo: [23, 22, 21, 19, 18] },
  // A model without a JSON mode that likes to talk.
  {
    nodeId: 'summarise',
    model: 'compatible/llama',
    trace: [skipped, read('extract', 'surroundings'), read('syntactic', 'trailing-comma', 'comment')],
    hoursAgo: [23, 17, 11, 6, 4, 0],
  },
  // Plans that do not hold.
  {
    nodeId: 'decide',
    model: 'openai/gpt-5-mini',
    trace: [precheck('fail')],
    hoursAgo: [15, 13, 10, 8, 6, 2],
  },
  { nodeId: 'decide', model: 'openai/gpt-5-mini', trace: [precheck('pass')], hoursAgo: [14, 12] },
  { nodeId: 'decide', model: 'openai/gpt-5-mini', trace: [precheck('skipped')], hoursAgo: [16] },
  // Answers that only come when asked again.
  {
    nodeId: 'classify',
    model: 'anthropic/claude',
    trace: [
      ['output.coercion.fail', { stage: 'extract', error_preview: 'no value was found' }],
      createEntry('llm', 'started'),
      createEntry('llm', 'failed', { ...call, cost_usd: 0.002 }),
      createEntry('stricter', 'started'),
      createEntry('stricter', 'success', { ...call, cost_usd: 0.003 }),
    ],
    hoursAgo: [18, 12, 3],
  },
  {
    nodeId: 'classify',
    model: 'anthropic/unpriced',
    trace: [createEntry('extractor', 'started'), createEntry('extractor', 'success', call)],
    hoursAgo: [5],
  },
  // Tried out in shadow.
  {
    nodeId: 'trial',
    model: 'openai/gpt-5-mini',
    trace: [
      ['output.coercion.success', { stage: 'extract', transforms: ['surroundings'], shadow: true }],
      ['output.coercion.fail', { stage: 'semantic', error_preview: 'x', shadow: true }],
    ],
    hoursAgo: [2, 1],
  },
  // No model at all.
  { nodeId: 'store', hoursAgo: [2] },
]

/** Fills a store; every attempt is a run of its own. */
export async function addAilments(store: Store): Promise<void> {
  let runs = 0
  for (const { hoursAgo, ...attempt } of ailments)
    for (const hours of hoursAgo)
      await addRun(store, `r-${++runs}`, [{ ...attempt, endedAt: now - hours * hour }])
}

export async function addRun(store: Store, runId: string, attempts: readonly Attempt[]): Promise<void> {
  const events = [
    startEvent('Write two headlines', { pipeline: 'headlines' }),
    planEvent(),
    ...attempts.flatMap(attemptEvents),
  ]
  await store.create(newRun(runId, { events, head: { status: 'completed', planVersion: 1 } }))
}
