/** A RAO contract as capabilities and policies state it: the keys that nodes have in their data. Stating it switches it on. */

import { child, type Pointer } from '../../base/pointer.ts'
import type { ParseIssue, ParseIssueCode } from '../parse/issue-table.ts'
import {
  type ConfidenceType,
  isRaoError,
  type RaoContract,
  type RaoError,
  readRaoContract,
  type Thresholds,
} from './rao-contract.ts'

export interface RaoSettings extends Partial<Thresholds> {
  /** Default true: `false` keeps the settings and switches the contract off. */
  readonly contract?: boolean
  readonly confidenceType?: ConfidenceType
  readonly maxInferenceMs?: number
  readonly contractVersion?: string
}

/** The contract, complete with its defaults; `undefined` where it is switched off. */
export function readRaoSettings(settings: RaoSettings): RaoContract | RaoError | undefined {
  return readRaoContract({ contract: true, ...settings })
}

/** What the schema of settings cannot say: that the thresholds are in order. */
export function raoSettingsIssues(
  settings: RaoSettings | undefined,
  code: ParseIssueCode,
  at: Pointer,
): ParseIssue[] {
  const contract = settings && readRaoSettings(settings)
  if (!isRaoError(contract)) return []
  const pointer = contract.error === 'InvalidField' ? child(at, contract.field) : at
  return [{ code, at: { pointer }, message: contract.message }]
}
