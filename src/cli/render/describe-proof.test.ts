import pc from 'picocolors'
import { expect, it } from 'vitest'
import { describeDiagnostics } from './describe-proof.ts'

it('reports what is missing, where, why and how to fix it', () => {
  const failure = {
    severity: 'hard',
    status: 'unsatisfied',
    constraint: 'input "tone" of "write" is supplied',
    nodeId: 'write',
    cause: 'missing_producer',
    suggestion: 'Add a node that supplies it',
  } as const
  const warning = { severity: 'soft', status: 'unknown', cause: 'advisory', constraint: 'short' } as const
  const lines = describeDiagnostics({ failures: [failure], warnings: [warning] }, pc.createColors(false))
  expect(lines).toEqual([
    '✗ node "write"  not shown: input "tone" of "write" is supplied',
    '  nothing in the plan supplies it',
    '  Add a node that supplies it',
    '! the whole plan  not shown: short',
    '  worth knowing',
  ])
})

it('says once what several nodes lack', () => {
  const lacks = (nodeId: string) =>
    ({
      severity: 'hard',
      status: 'unsatisfied',
      constraint: `capability "${nodeId}er" is active`,
      nodeId,
      capabilityId: `${nodeId}er`,
      cause: 'missing_producer',
      suggestion: 'It is inactive: Set OPENAI_API_KEY',
      details: { code: 'plan/capability-unknown' },
    }) as const
  const failures = [lacks('tag'), lacks('write')]
  expect(describeDiagnostics({ failures, warnings: [] }, pc.createColors(false))).toEqual([
    '✗ the whole plan  not shown: the capabilities of "tag", "write" are active',
    '  the capability is not registered or not active',
    '  It is inactive: Set OPENAI_API_KEY',
  ])
})
