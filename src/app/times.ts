/** Times that the environment may set, in whole milliseconds. */
import type { AppOptions } from '../app-options.ts'
import { ProvisoError } from '../base/error.ts'
import { type EnvConfig, envNames } from '../env.ts'

/** How long people and leases have: what the caller says, else the environment, else the engine's own. */
export function timesOf(options: AppOptions, env: EnvConfig): Pick<AppOptions, 'askMs' | 'leaseMs'> {
  const askMs = options.askMs ?? wholeMs(env, 'askMs')
  const leaseMs = options.leaseMs ?? wholeMs(env, 'leaseMs')
  return { ...(askMs !== undefined && { askMs }), ...(leaseMs !== undefined && { leaseMs }) }
}

export function wholeMs(
  env: EnvConfig,
  setting: 'capabilityCacheTtlMs' | 'capabilityRefreshMs' | 'askMs' | 'leaseMs',
): number | undefined {
  const text = env[setting]
  if (text === undefined || /^[1-9]\d{0,14}$/.test(text)) return text === undefined ? text : Number(text)
  throw new ProvisoError('option/invalid', `${envNames[setting][0]} must be a whole number of milliseconds`)
}
