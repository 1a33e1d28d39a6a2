/** Loads the driver of PostgreSQL on first use: it is an optional package, which only programs with this store need. */
import { missingPackage } from '../../../base/errors/missing-package.ts'

/** Throws `option/invalid` with the install command. */
export async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg')
  } catch (cause) {
    throw missingPackage({ name: 'pg', version: '8', purpose: 'open a PostgreSQL store' }, cause)
  }
}

/** Quotes the name of a schema, table, column or channel. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
