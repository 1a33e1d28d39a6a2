/** Operations for operators on a PostgreSQL database. */
import { ProvisoError } from '../../../base/errors/error.ts'
import type { StoreOperations } from '../shared/operation-types.ts'
import { backupPostgres, restorePostgres } from './backup-postgres.ts'
import { inspectPostgres } from './inspect-postgres.ts'

export const postgresOperations: StoreOperations = {
  backup: backupPostgres,
  restore: restorePostgres,
  inspect: inspectPostgres,
  async acceptLoss() {
    throw new ProvisoError(
      'option/invalid',
      'A PostgreSQL store keeps no anchor: there is no loss to accept',
      {
        hint: 'Omit --accept-loss',
      },
    )
  },
}
