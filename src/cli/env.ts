/** Reads the environment for the CLI; no other file of the CLI does. */
import { userInfo } from 'node:os'
import { readEnv } from '../env.ts'

export const env = {
  /** Disables colours: https://no-color.org, and `--no-color` of every command. */
  noColor: given(process.env['NO_COLOR']) !== undefined || hasFlag('--no-color'),
  forceColor: process.env['FORCE_COLOR'] !== undefined,
  /** The terminal cannot move its cursor. */
  isDumb: process.env['TERM'] === 'dumb',
  /** The locale is set, and is not UTF-8. */
  isAscii: isNotUtf8(process.env),
  /** Default of `--store`. */
  store: given(process.env['PROVISO_STORE']),
  /** Default of `--by`. */
  user: given(process.env['USER']) ?? given(process.env['USERNAME']) ?? account(),
  /** How this command is invoked here, for the commands it suggests. */
  program: isBehindNpm(process.env) ? ['npx', 'proviso'] : ['proviso'],
  /** API keys, redacted from all output. */
  secrets: readEnv().secrets ?? [],
  /** Default of `--fix-rules` of `validate --fix`. */
  fixRules: given(process.env['PROVISO_FIX_RULES']),
  /** Variables that may hold settings: `PROVISO_CONFIG`, `PROVISO_AROS_…`, `FLEX_PLANNER_MODEL` and the others of the tables. */
  settings: process.env,
} as const

/** Whether a flag is given before `--`; needed before the options are parsed. */
function hasFlag(flag: string): boolean {
  const end = process.argv.indexOf('--')
  return process.argv.slice(0, end < 0 ? undefined : end).includes(flag)
}

/** Follows the order of POSIX; without any of the variables, UTF-8 is assumed. */
function isNotUtf8({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = given(LC_ALL) ?? given(LC_CTYPE) ?? given(LANG)
  return locale !== undefined && !/utf-?8/i.test(locale)
}

/** Treats an empty variable as unset. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

/** Returns whether npx (which exposes the script it runs) or `npm start` started the command: then it is in the project, not on the path. */
function isBehindNpm({ npm_lifecycle_event: event, npm_lifecycle_script: script = '' }: NodeJS.ProcessEnv) {
  return event === 'start' || (event === 'npx' && /^["']?proviso\b/.test(script))
}

/** Falls back to the operating system's user name, because containers often set no variable; `undefined` if the account has no name. */
function account(): string | undefined {
  try {
    return given(userInfo().username)
  } catch {
    return undefined
  }
}
