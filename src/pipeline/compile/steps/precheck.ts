/**
 * Prepares the reasoning precheck of a step: agent names become models with their prompts, and the context
 * keys it reads become node inputs that only the precheck sees.
 */
import { isObject, type Json } from '../../../base/json.ts'
import type { Pointer } from '../../../base/pointer.ts'
import type { GivenProcessing } from '../../../domain/draft/processing.ts'
import type { Binding } from '../../../domain/plan.ts'
import type { Agent } from '../../parse/pipeline.ts'
import { asBinding, type Scope } from '../build.ts'
import { contextValue } from '../names.ts'
import { bring, inside, type Value } from '../value.ts'

export interface PreparedPrecheck {
  readonly processing: GivenProcessing
  readonly inputs: { readonly [name: string]: Binding }
}

/** Default key of the goal. */
const usualGoal = 'initial_input'

export function preparePrecheck(scope: Scope, processing: GivenProcessing, at: Pointer): PreparedPrecheck {
  const said = processing['reasoning_precheck']
  if (!isObject(said) || said['enabled'] !== true) return { processing, inputs: {} }
  const precheck = said as GivenProcessing
  const inputs: Record<string, Binding> = {}
  for (const key of contextKeys(precheck)) {
    const value = findKey(scope, key)
    if (value !== undefined) inputs[key] = asBinding(value)
    else if (key !== usualGoal) reportUnwritten(scope, key, at)
  }
  const names = Object.keys(inputs)
  return {
    processing: {
      ...processing,
      reasoning_precheck: {
        ...precheck,
        ...agentsIn(precheck, scope.pipeline.agents),
        ...(names.length > 0 && { context_inputs: names }),
      },
    },
    inputs,
  }
}

/** The context keys to bind; `input` is always an input of the node. */
function contextKeys(precheck: GivenProcessing): ReadonlySet<string> {
  const required = (precheck['required_context_keys'] ?? []) as readonly string[]
  const goal = (precheck['goal_context_key'] ?? usualGoal) as string
  const keys = new Set([...required, goal])
  keys.delete('input')
  return keys
}

/** `initial_input` is the input of the pipeline; every other key is looked up in the context. */
function findKey(scope: Scope, key: string): Value | undefined {
  const [name = '', ...rest] = key.replace(/^context\./, '').split('.')
  const local = name === usualGoal ? scope.locals.get('input') : undefined
  const base = local ? bring(local, scope.region) : contextValue(scope, name)
  const found = base && inside(base, rest)
  return found === undefined || 'absent' in found ? undefined : found
}

function reportUnwritten({ build, pipeline }: Scope, key: string, at: Pointer): void {
  build.notes.push(
    pipeline.issue(at, {
      code: 'pipeline/precheck-key',
      message: `the precheck reads ${key} from the context, and nothing puts it there before this step`,
      hint: 'Set updates_context or sink_to on a step before, add it under context:, or name initial_input',
    }),
  )
}

/** Replaces agent names by their models and prompts; other names are models themselves. */
function agentsIn(precheck: GivenProcessing, agents: ReadonlyMap<string, Agent>): GivenProcessing {
  return Object.fromEntries(
    ['validator_agent', 'consensus_agent'].flatMap((key): [string, Json][] => {
      const name = precheck[key]
      const agent = typeof name === 'string' ? agents.get(name.replace(/^agents\./, '')) : undefined
      if (agent === undefined) return []
      const { model, systemPrompt } = agent
      return [[key, { ...(model !== undefined && { model }), instructions: systemPrompt }]]
    }),
  )
}
