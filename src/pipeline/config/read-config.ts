/** The text of `proviso.toml` to values by dotted name, or what is wrong with it and on which line. */
import { parse, TomlError } from 'smol-toml'
import { isObject, type Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import { checkNoun } from '../../domain/check-noun.ts'
import { closed, map } from '../../domain/schemas/parts.ts'
import { arosSchema, presets } from '../aros-config.ts'
import { snakeKeys } from '../snake-keys.ts'
import { createSource, issueAt, positionOf, type Source, type SourceIssue } from '../source.ts'
import { serverSchema } from './server-settings.ts'
import { placeOf, tomlPlaces } from './toml-places.ts'

export interface ConfigFile {
  readonly source: Source
  /** What is said, by dotted name: `aros.repair.max_attempts`. */
  readonly values: ReadonlyMap<string, { readonly value: Json; readonly line: number }>
  /** `[validation.profiles.NAME]`: severities of lint rules, for whoever lints. */
  readonly profiles: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export type ReadConfig =
  | { readonly ok: true; readonly file: ConfigFile }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

const severities = { enum: ['off', 'info', 'warning', 'error'] } as const

/** Everything that the file may say. */
export const configSchema = closed({
  preset: { enum: Object.keys(presets) },
  aros: arosSchema(),
  ...serverSchema(),
  validation: closed({
    profiles: { type: 'object', additionalProperties: { type: 'object', additionalProperties: severities } },
    profile: { type: 'string', minLength: 1 },
  }),
  meta: map,
})

export function readConfig(text: string, name = 'proviso.toml'): ReadConfig {
  const source = createSource(text, name)
  let parsed: Json
  try {
    parsed = snakeKeys(JSON.parse(JSON.stringify(parse(text))) as Json, {
      deep: true,
      except: ['profiles', 'meta'],
    })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const start = (source.lineStarts[error.line - 1] ?? 0) + Math.max(0, error.column - 1)
    const message = `not TOML: ${error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? ''}`
    return {
      ok: false,
      issues: [issueAt(source, { code: 'config/toml', span: [start, start + 1], message })],
    }
  }
  const places = tomlPlaces(text)
  const issues = checkNoun(configSchema, parsed, 'Remove it: nothing reads it').map(
    ({ at, code, message, hint }) => {
      const path = 'pointer' in at ? tokens(at.pointer) : []
      const span = placeOf(places, path)
      return issueAt(source, {
        code: code.replace('schema/', 'config/'),
        span,
        message: `${path.join('.')}: ${message}`,
        ...(hint !== undefined && { hint }),
      })
    },
  )
  if (issues.length > 0) return { ok: false, issues }
  const values = new Map<string, { value: Json; line: number }>()
  for (const [path, value] of leaves(parsed, []))
    values.set(path.join('.'), { value, line: positionOf(source, placeOf(places, path)[0]).line })
  const validation = (parsed as { validation?: { profiles?: ConfigFile['profiles'] } }).validation
  return { ok: true, file: { source, values, profiles: validation?.profiles ?? {} } }
}

function* leaves(value: Json, path: readonly string[]): Generator<[readonly string[], Json]> {
  if (!isObject(value)) yield [path, value]
  else
    for (const [key, member] of Object.entries(value as { [key: string]: Json }))
      yield* leaves(member, [...path, key])
}
