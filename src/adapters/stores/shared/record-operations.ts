/** The rows of the operations audit for tokens, registrations and erased runs, alike in every store. */
import type { Json } from '../../../base/json.ts'
import type { ErasedRun } from '../../../domain/ports/erase.ts'
import type { NewOperation } from '../../../domain/ports/operations.ts'
import type { RegistrationRow, TokenRow } from '../../../domain/ports/records.ts'

export function tokenOperation(
  action: 'token.created' | 'token.rotated' | 'token.revoked',
  token: Pick<TokenRow, 'tokenId' | 'tenant' | 'role' | 'name' | 'expiresAt' | 'capabilityId' | 'taskRoles'>,
  { by, more = {} }: { readonly by: string; readonly more?: { readonly [name: string]: Json } },
): NewOperation {
  const { tokenId, tenant, role, name, expiresAt, capabilityId, taskRoles } = token
  const details = {
    role,
    name,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(capabilityId !== undefined && { capabilityId }),
    ...(taskRoles && { taskRoles: [...taskRoles] }),
    ...more,
  }
  return { tenant, by, action, subject: tokenId, details }
}

export function registrationOperation(
  { tenant, capabilityId, tokenId }: Pick<RegistrationRow, 'tenant' | 'capabilityId' | 'tokenId'>,
  { by, isNew }: { readonly by: string; readonly isNew: boolean },
): NewOperation {
  const action = isNew ? 'registration.created' : 'registration.changed'
  return { tenant, by, action, subject: capabilityId, details: { tokenId } }
}

export function removalOperation(
  { tenant, capabilityId }: Pick<RegistrationRow, 'tenant' | 'capabilityId'>,
  by: string,
): NewOperation {
  return { tenant, by, action: 'registration.removed', subject: capabilityId, details: {} }
}

/** What stays of an erased run. */
export function tombstone(
  { runId, tenant, status, events, auditHead }: ErasedRun,
  { by, receiptId }: { readonly by: string; readonly receiptId: string },
): NewOperation {
  const details = { receiptId, status, events, auditHead }
  return { tenant, by, action: 'run.erased', subject: runId, details }
}
