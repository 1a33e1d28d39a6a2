/** JSON Schema as raw data, read by Ajv and by the project's own schema walkers. */

/** A raw JSON Schema: 2020-12 unless `$schema` declares draft-07. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }
