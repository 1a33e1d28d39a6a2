/** The one file of the command that reads the environment. */
import { userInfo } from 'node:os'
import { readEnv } from '../env.ts'

export const env = {
  /** Plain text, one line per change: https://no-color.org. */
  noColor: process.env['NO_COLOR'] !== undefined,
  forceColor: process.env['FORCE_COLOR'] !== undefined,
  /** Where runs live when no `--store` says so. */
  store: given(process.env['PROVISO_STORE']),
  /** Who decides when no `--by` says so. */
  user: given(process.env['USER']) ?? given(process.env['USERNAME']) ?? account(),
  /** How this command is called here, for commands that people copy. */
  program: isBehindNpm(process.env) ? ['npx', 'proviso'] : ['proviso'],
  /** Keys that are never printed. */
  secrets: readEnv().secrets ?? [],
  /** What `validate --fix` may mend when no `--fix-rules` says so. */
  fixRules: given(process.env['PROVISO_FIX_RULES']),
  /** Variables that may hold settings: `PROVISO_CONFIG`, `PROVISO_AROS_…`, `FLEX_PLANNER_MODEL` and the others of the tables. */
  settings: process.env,
} as const

/** A variable that is set to nothing is not set. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

/** Started by npx, which tells which command it runs, or by `npm start`: the command is in the project, not on the path. */
function isBehindNpm({ npm_lifecycle_event: event, npm_lifecycle_script: script = '' }: NodeJS.ProcessEnv) {
  return event === 'start' || (event === 'npx' && /^["']?proviso\b/.test(script))
}

/** In containers no variable says who works there; the system knows, unless the account has no name. */
function account(): string | undefined {
  try {
    return given(userInfo().username)
  } catch {
    return undefined
  }
}
