/** Reads and writes the files of `validate` beside a pipeline: profiles and baselines. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import {
  type Baseline,
  baselineOf,
  type LintIssue,
  namedProfile,
  type Profile,
  type Profiles,
  parseBaseline,
  readProfileFile,
} from '../../pipeline/index.ts'
import type { Unreadable } from '../read-input.ts'
import { cannotWrite } from './fix-pipeline.ts'

/** `--rules`: a file if one of that name exists, else a profile. */
export function chooseProfile(
  given: string | undefined,
  profiles: Profiles,
): { readonly profile: Profile } | { readonly unreadable: Unreadable } {
  if (given === undefined) return { profile: [] }
  const read = existsSync(given)
    ? readProfileFile(readFileSync(given, 'utf8'), given)
    : namedProfile(given, profiles)
  return 'profile' in read ? read : { unreadable: { message: `--rules: ${read.problem}`, hint: read.hint } }
}

export function readBaseline(
  file: string,
): { readonly baseline: Baseline } | { readonly unreadable: Unreadable } {
  const hint = 'Create one with --update-baseline'
  if (!existsSync(file)) return { unreadable: { message: `--baseline: ${file} not found`, hint } }
  try {
    const baseline = parseBaseline(JSON.parse(readFileSync(file, 'utf8')))
    if (baseline) return { baseline }
  } catch {
    // Invalid JSON is reported below, like any other invalid baseline.
  }
  return { unreadable: { message: `--baseline: ${file} is not a baseline`, hint } }
}

/** Returns the error if the file cannot be written. */
export function writeBaseline(file: string, issues: readonly LintIssue[]): Unreadable | undefined {
  try {
    writeFileSync(file, `${JSON.stringify(baselineOf(issues), null, 2)}\n`)
    return undefined
  } catch (error) {
    return cannotWrite(file, error)
  }
}
