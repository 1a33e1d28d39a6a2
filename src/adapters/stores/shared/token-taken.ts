/** The error of every store for a token id that exists. */
import { ProvisoError } from '../../../base/errors/error.ts'

export function tokenTaken(tokenId: string): ProvisoError {
  return new ProvisoError('option/invalid', `Token "${tokenId}" already exists`, {
    hint: 'Use a unique token id; a revoked token keeps its id',
  })
}
