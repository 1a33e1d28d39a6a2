/** What `proviso.toml` says about linting: the nearest one upward from the working directory, or that of PROVISO_CONFIG. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type LintSettings, readLintTable } from '../pipeline/index.ts'
import { env } from './env.ts'
import type { Unreadable } from './read-input.ts'

export type ReadSettings =
  | { readonly settings: LintSettings; readonly toml: string | undefined }
  | { readonly unreadable: Unreadable }

export function readLintSettings(): ReadSettings {
  const file = env.config ?? nearest(process.cwd())
  if (file !== undefined && !existsSync(file)) {
    const message = `PROVISO_CONFIG: there is no file ${file}`
    return { unreadable: { message, hint: 'Give the path of a proviso.toml, or unset it' } }
  }
  const toml = file === undefined ? undefined : readFileSync(file, 'utf8')
  const read = readLintTable(toml)
  if ('problem' in read) return { unreadable: { message: `${file}: ${read.problem}`, hint: read.hint } }
  return { settings: read, toml }
}

function nearest(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'proviso.toml')
    if (existsSync(file)) return file
    if (dirname(at) === at) return undefined
  }
}
