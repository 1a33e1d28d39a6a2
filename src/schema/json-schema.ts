/** What a JSON Schema is to this house: raw data, read by Ajv and by our own walkers. */

/** A raw JSON Schema: 2020-12 unless `$schema` declares draft-07. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }
