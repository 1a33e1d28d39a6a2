/** Operations for operators on a SQLite file. */

import type { StoreOperations } from '../../shared/operation-types.ts'
import { openSqliteStore } from '../sqlite.ts'
import { backupSqlite } from './backup-sqlite.ts'
import { inspectSqlite } from './inspect-sqlite.ts'
import { restoreSqlite } from './restore-sqlite.ts'

const pathOf = (address: string) => address.slice(address.indexOf(':') + 1)

export const sqliteOperations: StoreOperations = {
  backup: (address, options) => backupSqlite(pathOf(address), options),
  restore: (address, options) => restoreSqlite(pathOf(address), options),
  inspect: (address) => inspectSqlite(pathOf(address)),
  async acceptLoss(address) {
    const store = await openSqliteStore({ path: pathOf(address), acceptLoss: true })
    await store.close()
  },
}
