/** What every store says when a token is added under an id that is taken. */
import { ProvisoError } from '../../base/error.ts'

export function tokenTaken(tokenId: string): ProvisoError {
  return new ProvisoError('option/invalid', `There is a token "${tokenId}" already`, {
    hint: 'Every token needs an id of its own; a revoked one keeps its id',
  })
}
