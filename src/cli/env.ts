/** The one file of the command that reads the environment. */
import { readEnv } from '../env.ts'

export const env = {
  /** Plain text, one line per change: https://no-color.org. */
  noColor: process.env['NO_COLOR'] !== undefined,
  forceColor: process.env['FORCE_COLOR'] !== undefined,
  /** Where runs live when no `--store` says so. */
  store: given(process.env['PROVISO_STORE']),
  /** Who decides when no `--by` says so. */
  user: given(process.env['USER']) ?? given(process.env['USERNAME']),
  /** Keys that are never printed. */
  secrets: readEnv().secrets ?? [],
} as const

/** A variable that is set to nothing is not set. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
