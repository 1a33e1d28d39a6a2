/** Column definitions for migrations, in the types of a dialect. A migration that was released depends on them: add, do not edit. */
import type { SqlDialect, TableBuilder } from '../dialects/sql-dialect.ts'

/** Times and counters: whole numbers up to 2^53 are exact in every database, and fractions are accepted. */
export const number = 'double precision'

/** Adds columns of text that is compared and ordered by code point. */
export function addKeys(table: TableBuilder, { columns }: SqlDialect, ...names: string[]): TableBuilder {
  return names.reduce(
    (builder, name) => builder.addColumn(name, columns.key, (column) => column.notNull()),
    table,
  )
}

export function addTexts(table: TableBuilder, ...names: string[]): TableBuilder {
  return names.reduce((builder, name) => builder.addColumn(name, 'text', (column) => column.notNull()), table)
}

export function addOptionalTexts(table: TableBuilder, ...names: string[]): TableBuilder {
  return names.reduce((builder, name) => builder.addColumn(name, 'text'), table)
}

export function addNumbers(table: TableBuilder, ...names: string[]): TableBuilder {
  return names.reduce((builder, name) => builder.addColumn(name, number, (column) => column.notNull()), table)
}

export function addOptionalNumbers(table: TableBuilder, ...names: string[]): TableBuilder {
  return names.reduce((builder, name) => builder.addColumn(name, number), table)
}

export function addPrimaryKey(table: TableBuilder, name: string, ...columns: string[]): TableBuilder {
  return table.addPrimaryKeyConstraint(`${name}_key`, columns)
}

/** Adds the primary key, and stores the rows in its order where the database can. */
export function clusterByKey(
  table: TableBuilder,
  { columns }: SqlDialect,
  name: string,
  ...keys: string[]
): TableBuilder {
  return columns.clusterByKey(addPrimaryKey(table, name, ...keys))
}
