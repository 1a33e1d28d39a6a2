/** How capabilities answer. */
import type { Random } from '../../sim/random.ts'
import type { Answer, Executor, Script } from '../case.ts'
import type { Features } from './features.ts'

export interface ScriptChoice {
  readonly features: Features
  readonly executor: Executor
  readonly hangs: boolean
  readonly rao: boolean
  readonly inBody: boolean
  /** It changes the world and is not idempotent. */
  readonly once: boolean
}

export function makeScript(random: Random, choice: ScriptChoice): Script {
  const { features, executor, inBody } = choice
  if (executor === 'human') return { answers: [], rest: { kind: 'ok' } }
  const next = (): Answer => {
    const remote = executor === 'agent' || executor === 'model'
    if (remote && features.throttles && random.chance(0.4)) return throttled(random)
    if (executor !== 'model' && features.asks && !choice.rao && random.chance(0.06))
      return { kind: 'unclear' }
    return random.chance(features.failures) ? failing(random, choice) : fine(random, choice)
  }
  // A person who lets it be done again gives it all its retries: where calls are cut off, that must come to an end.
  const mayFail = !choice.once || !(features.crashes || features.policies || features.steady)
  const fails = mayFail && random.chance(features.failures / 2)
  const rest = fails ? failing(random, choice) : fine(random, choice)
  const answers = Array.from({ length: random.int(3) }, next)
  const spoilt = inBody &&
    mayFail &&
    random.chance(0.4) && { outOfFour: random.between(1, 3), answer: failing(random, choice) }
  return { answers: features.steady ? [] : answers, rest, ...(spoilt && { spoilt }) }
}

function fine(random: Random, { rao }: ScriptChoice): Answer {
  if (!rao) return { kind: 'ok' }
  return { kind: 'ok', confidence: random.pick([0.2, 0.7, 0.95, 0.95]), escalate: random.chance(0.15) }
}

function failing(random: Random, { hangs, executor }: ScriptChoice): Answer {
  const kinds: Answer['kind'][] = ['error', 'bad-value', 'final-error']
  if (executor === 'model') kinds.splice(2, 1, 'babble', 'refused')
  if (executor === 'agent') kinds.push('refused', 'not-applied')
  if (hangs && executor !== 'courier') kinds.push('hang', 'hang')
  return { kind: random.pick(kinds) } as Answer
}

function throttled(random: Random): Answer {
  return {
    kind: 'throttled',
    times: random.pick([1, 2, 4, 1000]),
    unreachable: random.chance(0.3),
    ...(random.chance(0.3) && { retryAfterMs: random.pick([100, 2000]) }),
  }
}
