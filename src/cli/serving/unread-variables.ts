/** Environment variables that look like settings of a server and have no effect: misspelled, or of the specifications and not built. */
import { closest } from '../../base/closest.ts'
import { envNames } from '../../env.ts'
import { type ArosKey, arosTable, envName, serverKeys, serverTable } from '../../pipeline/index.ts'

/** Variables of the specifications that this server does not read, with what to set instead. */
const notBuilt: Readonly<Record<string, string>> = {
  FLEX_CAPABILITY_POST_CONDITION_MAX_RETRIES: 'set `retry` on the nodes of a draft',
  FLEX_GOAL_CONDITION_REPLAN_LIMIT: 'a policy replans at most as often as its `maxAttempts` says',
  FLUJO_CONFIG_PATH: 'set PROVISO_CONFIG',
  FLUJO_FIX_RULES: 'set PROVISO_FIX_RULES',
  FLUJO_VALIDATE_LARGE_LITERAL_THRESHOLD: 'the threshold is fixed',
  HITL_MAX_REQUESTS: 'the number of asks of a run is not limited',
  SSE_CONCURRENCY: 'set PROVISO_MAX_STREAMS',
  SSE_MAX_PENDING: 'set PROVISO_MAX_STREAMS',
  USE_FLEX_AGENTS_POPUP: 'it belongs to a user interface that is not part of this server',
}

const ours = /^(PROVISO|FLEX|FLUJO|HITL|SSE|USE_FLEX|VITE_USE_FLEX)_/

/** Read by the command itself, by agents of the examples and by tests. */
const readElsewhere = [
  'PROVISO_CONFIG',
  'PROVISO_PRESET',
  'PROVISO_STORE',
  'PROVISO_FIX_RULES',
  'PROVISO_URL',
  'PROVISO_TOKEN',
]

/** One line for each variable that is set and not read. */
export function unreadVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set<string>([
    ...readElsewhere,
    ...Object.values(envNames).flat(),
    ...(Object.keys(arosTable) as ArosKey[]).map(envName),
    ...serverKeys.flatMap((key) => serverTable[key].env),
  ])
  return Object.keys(env)
    .filter((name) => ours.test(name) && env[name] !== '' && env[name] !== undefined && !known.has(name))
    .sort()
    .map((name) => describe(name, [...known]))
}

function describe(name: string, known: readonly string[]): string {
  const instead = notBuilt[name]
  if (instead !== undefined) return `${name} has no effect here: ${instead}.`
  const meant = closest(name, known)
  return meant === undefined
    ? `${name} has no effect: there is no such variable.`
    : `${name} has no effect: there is no such variable. Did you mean ${meant}?`
}
