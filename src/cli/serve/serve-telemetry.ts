/** Logging of a server on standard error, and the sandbox routes, from settings of the environment. */
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { EnvConfig } from '../../env.ts'
import { type Route, type ServerOptions, sandboxRoutes } from '../../server/index.ts'

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * Logs JSON lines on standard error; off in development, where a person reads it, unless `PROVISO_LOG` overrides this.
 * `verbose` comes from the settings; the environment variable also enables it.
 */
export function logOptions(
  env: EnvConfig,
  { dev, verbose }: { readonly dev: boolean; readonly verbose: boolean },
): Pick<ServerOptions, 'log'> {
  const given = env.log ?? (dev ? 'silent' : 'info')
  const level = levels.find((one) => one === given)
  if (level === undefined)
    throw new ProvisoError('option/invalid', `PROVISO_LOG is no level: ${given}`, {
      hint: `Set it to one of ${levels.join(', ')}`,
    })
  if (level === 'silent') return {}
  const destination = { write: (line: string) => void process.stderr.write(line) }
  return { log: { level, verbose: verbose || isOn(env.telemetryVerbose), destination } }
}

/** Returns the sandbox routes if the flag enables them (FLEX-104). */
export function sandboxOf(env: EnvConfig, app: App): readonly Route[] {
  if (!isOn(env.sandbox)) return []
  const { sandboxTemplateDir: templateDir } = env
  return sandboxRoutes({ generate: app.generate, ...(templateDir !== undefined && { templateDir }) })
}

export function isOn(flag: string | undefined): boolean {
  return flag !== undefined && /^(1|true|yes|on)$/i.test(flag)
}
