/** Reads `proviso.toml` into values by dotted name, or into issues with their lines. */

import { parse, TomlError } from 'smol-toml'
import type { TextRange } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import { checkNoun } from '../../domain/parse/parsed.ts'
import { closed, map } from '../../domain/schemas/parts.ts'
import {
  createSource,
  issueAt,
  type Source,
  type SourceIssue,
  toFileCode,
  toPosition,
} from '../text/source.ts'
import { snakeKeys } from '../yaml/snake-keys.ts'
import { arosSchema, presets } from './aros-config.ts'
import { mcpFreeNames, mcpSchema } from './mcp-settings.ts'
import { explainSetting, serverSchema } from './server-settings.ts'

export interface ConfigFile {
  readonly source: Source
  /** Values by dotted name: `aros.repair.max_attempts`. */
  readonly values: ReadonlyMap<string, { readonly value: Json; readonly line: number }>
  /** `[validation.profiles.NAME]`: severities of lint rules, for the linter. */
  readonly profiles: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** `[mcp.NAME]`, as written. */
  readonly mcp?: Json
}

export type ReadConfig =
  | { readonly ok: true; readonly file: ConfigFile }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

const severities = { enum: ['off', 'info', 'warning', 'error'] } as const

/** Schema of the whole file. */
export const configSchema = closed({
  preset: { enum: Object.keys(presets) },
  aros: arosSchema(),
  ...serverSchema(),
  mcp: mcpSchema,
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
      except: ['profiles', 'meta', ...mcpFreeNames],
    })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const start = (source.lineStarts[error.line - 1] ?? 0) + Math.max(0, error.column - 1)
    const message = `not TOML: ${error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? ''}`
    return {
      ok: false,
      issues: [issueAt(source, { code: 'config/toml', range: [start, start + 1], message })],
    }
  }
  const ranges = locateTomlKeys(text)
  const issues = checkNoun(configSchema, parsed, 'Remove it: nothing reads it').map(
    ({ at, code, message, hint }) => {
      const path = 'pointer' in at ? tokens(at.pointer) : []
      const range = getRange(ranges, path)
      return issueAt(source, {
        code: toFileCode('config', code),
        range,
        message: `${path.join('.')}: ${explainSetting(path.slice(0, 2).join('.'), { code, message })}`,
        ...(hint !== undefined && { hint }),
      })
    },
  )
  if (issues.length > 0) return { ok: false, issues }
  const values = new Map<string, { value: Json; line: number }>()
  for (const [path, value] of leaves(parsed, []))
    values.set(path.join('.'), { value, line: toPosition(source, getRange(ranges, path)[0]).line })
  const { validation, mcp } = parsed as { validation?: { profiles?: ConfigFile['profiles'] }; mcp?: Json }
  const profiles = validation?.profiles ?? {}
  return { ok: true, file: { source, values, profiles, ...(mcp !== undefined && { mcp }) } }
}

function* leaves(value: Json, path: readonly string[]): Generator<[readonly string[], Json]> {
  if (!isObject(value)) yield [path, value]
  else
    for (const [key, member] of Object.entries(value as { [key: string]: Json }))
      yield* leaves(member, [...path, key])
}

// Locates the keys of a TOML text by a line scan, because the parser returns no positions.

/** Ranges of keys by dotted name; for a table, the range of its header. */
function locateTomlKeys(text: string): ReadonlyMap<string, TextRange> {
  const ranges = new Map<string, TextRange>()
  let table: readonly string[] = []
  let fence = ''
  let offset = 0
  for (const line of text.split('\n')) {
    const start = offset
    offset += line.length + 1
    if (fence !== '') {
      if (line.includes(fence)) fence = ''
      continue
    }
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(line)
    const pair = /^(\s*)((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(line)
    if (header?.[1] !== undefined) {
      table = namesIn(header[1])
      ranges.set(table.join('.'), [start, start + line.trimEnd().length])
    } else if (pair?.[2] !== undefined) {
      const at = start + (pair[1]?.length ?? 0)
      ranges.set([...table, ...namesIn(pair[2])].join('.'), [at, start + line.trimEnd().length])
    }
    const value = line.slice(line.indexOf('=') + 1)
    for (const mark of ['"""', "'''"]) if (value.split(mark).length === 2) fence = mark
  }
  return ranges
}

function namesIn(dotted: string): string[] {
  return (dotted.match(/"[^"]*"|'[^']*'|[\w-]+/g) ?? []).map((name) => name.replace(/^["']|["']$/g, ''))
}

/** The range of a key, or of the nearest table that contains it. */
function getRange(ranges: ReadonlyMap<string, TextRange>, path: readonly string[]): TextRange {
  for (let length = path.length; length > 0; length--) {
    const found = ranges.get(path.slice(0, length).join('.'))
    if (found) return found
  }
  return [0, 0]
}
