/** A row of the tables of settings, and how the sections read their values. */
import type { Json } from '../../../base/json.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'

interface SettingRow {
  readonly schema: JsonSchema
  readonly otherwise: Json
  readonly what: string
  /** Environment variables; the first one that is set wins. */
  readonly env: readonly string[]
}

/** Rows by their dotted name in `proviso.toml`. */
export type SettingTable = Readonly<Record<string, SettingRow>>

/** Returns the effective value of a setting; `null` if it is not set and has no default. */
export type ReadSetting<Table extends SettingTable> = <T>(key: keyof Table & string) => T
