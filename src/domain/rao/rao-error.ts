/** What is wrong with a RAO contract or with what a model answered under one; the texts are the specification's own. */
import { canonicalJson } from '../../base/canonical.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, own } from '../../base/json.ts'

export type RaoError =
  /** A contract field on the node is present but not usable. */
  | {
      readonly error: 'InvalidField'
      readonly field: string
      readonly reason: string
      readonly message: string
    }
  /** The thresholds are not in order. */
  | { readonly error: 'InvalidThresholds'; readonly reason: string; readonly message: string }
  /** The answer is not the envelope that the contract asks for: a failed node, not lower trust. */
  | { readonly error: 'SchemaViolation'; readonly reason: string; readonly message: string }

export function isRaoError(value: unknown): value is RaoError {
  return isObject(value) && errors.some((error) => error === own(value, 'error'))
}

const errors = ['InvalidField', 'InvalidThresholds', 'SchemaViolation'] as const satisfies RaoError['error'][]

export function invalidField(field: string, reason: string): RaoError {
  return {
    error: 'InvalidField',
    field,
    reason,
    message: `invalid contract field \`${field}\`: ${reason}`,
  }
}

export function invalidThresholds(reason: string): RaoError {
  return { error: 'InvalidThresholds', reason, message: `invalid contract thresholds: ${reason}` }
}

export function schemaViolation(reason: string): RaoError {
  return { error: 'SchemaViolation', reason, message: `output violates contract schema: ${reason}` }
}

/** The issue of an answer that breaks its contract, by which others know it. */
export const violationCode = 'rao/schema-violation'

export function violationIssue({ message }: RaoError): Issue {
  return { code: violationCode, at: { pointer: '' }, message }
}

/** Longer values are cut: a model must not be able to fill a log with its answer. */
const longest = 500

/** A value as compact JSON with sorted keys; what JSON cannot hold is named by its type. */
export function shown(value: unknown): string {
  return cut(asJson(value))
}

/** Truncates external text for use in a message. */
export function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function asJson(value: unknown): string {
  if (typeof value === 'number') return decimal(value)
  try {
    return canonicalJson(value)
  } catch {
    return typeof value
  }
}

/** A number in full digits, never with an exponent: 1e-7 is 0.0000001. */
export function decimal(value: number): string {
  const text = String(value)
  const [, sign = '', whole = '', fraction = '', power = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (whole === '') return text
  const digits = whole + fraction
  const point = whole.length + Number(power)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return sign + digits.padEnd(point, '0')
}
