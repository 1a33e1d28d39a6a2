/** Reports environment variables of a server that have no effect: misspelled, specified but not implemented, or with an invalid value. */
import { providerTable } from '../../adapters/providers/provider-table.ts'
import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { envNames } from '../../env.ts'
import { type ArosKey, arosTable, envName, serverKeys, serverTable } from '../../pipeline/index.ts'

/** Specified variables that this server does not read, with what to set instead. */
const notBuilt: Readonly<Record<string, string>> = {
  FLEX_CAPABILITY_POST_CONDITION_MAX_RETRIES: 'set `retry` on the nodes of a draft',
  FLEX_GOAL_CONDITION_REPLAN_LIMIT: 'a policy replans at most as often as its `maxAttempts` says',
  FLUJO_CONFIG_PATH: 'set PROVISO_CONFIG',
  FLUJO_FIX_RULES: 'set PROVISO_FIX_RULES',
  FLUJO_VALIDATE_LARGE_LITERAL_THRESHOLD: 'the threshold is fixed',
  HITL_MAX_REQUESTS: 'set `constraints.maxAsks` of the envelope (default 3)',
  SSE_CONCURRENCY: 'set PROVISO_MAX_STREAMS',
  SSE_MAX_PENDING: 'set PROVISO_MAX_STREAMS',
  USE_FLEX_AGENTS_POPUP: 'it belongs to a user interface that is not part of this server',
}

const ours = /^(PROVISO|FLEX|FLUJO|HITL|SSE|USE_FLEX|VITE_USE_FLEX)_/

/** Variables read by the CLI itself, by agents of the examples and by tests. */
const otherVariables = [
  'PROVISO_CONFIG',
  'PROVISO_PRESET',
  'PROVISO_STORE',
  'PROVISO_FIX_RULES',
  'PROVISO_URL',
  'PROVISO_TOKEN',
]

/** Returns one line for each variable that is set but not read. */
export function findUnusedVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set<string>([
    ...otherVariables,
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

type Variables = Readonly<Record<string, string | undefined>>

/** Providers that a model id can name. */
const providers = Object.keys(providerTable)

const switches = ['sandbox', 'telemetryVerbose', 'captureContent'] as const
const urls = ['openaiBaseUrl', 'compatibleBaseUrl', 'publicUrl'] as const

/** Returns one line for each variable with an invalid value, with the expected values. Throws for an address that cannot be called. */
export function findInvalidVariables(env: Variables): readonly string[] {
  const set = (setting: keyof typeof envNames) =>
    envNames[setting].flatMap((name) => {
      const value = env[name]?.trim()
      return value ? [{ name, value }] : []
    })
  for (const { name, value } of urls.flatMap(set))
    if (!isHttpUrl(value))
      throw new ProvisoError('option/invalid', `${name} must be an http or https URL, got "${value}"`, {
        hint: `Set ${name} to an address such as http://127.0.0.1:11434/v1`,
      })
  const misread = ({ name, value }: { name: string; value: string }, accepted: string) =>
    `${name}="${value}" has no effect: set it to ${accepted}.`
  return [
    ...switches
      .flatMap(set)
      .filter(({ value }) => !/^(1|true|yes|on|0|false|no|off)$/i.test(value))
      .map((each) => misread(each, '1, true, yes or on, or to 0, false, no or off')),
    ...set('ledger')
      .filter(({ value }) => !/^[01]$/.test(value))
      .map((each) => misread(each, '1 or 0')),
    ...set('defaultModel')
      .filter(({ value }) => value.includes('/') && !providers.includes(value.split('/')[0] ?? ''))
      .map(
        ({ name, value }) =>
          `${name}="${value}" names no known provider: set it to PROVIDER/MODEL with one of ${providers.join(', ')}.`,
      ),
  ]
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
