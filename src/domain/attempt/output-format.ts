/** What a node declared about its output (`data.outputFormat`), and what is said when it does not come (ADR-11, ADR-13). */
import { isObject, type Json, jsonType } from '../../base/json.ts'
import type { OutputFormat } from '../../output/index.ts'
import type { AttemptResult } from '../output.ts'

/** The declaration in a node's data; undefined where there is none. */
export function outputFormatOf(data: { readonly [key: string]: Json } | undefined): OutputFormat | undefined {
  const format = data?.['outputFormat']
  if (!isObject(format)) return undefined
  const { type, schema } = format
  if (type !== 'json' && type !== 'text') return undefined
  return { type, ...(typeof schema === 'string' && { schema }) }
}

export interface FormatFailure {
  readonly message: string
  readonly details: { readonly expectedType: string; readonly actualType: string }
}

/** Expected and actual type of an output that is not as declared. */
export function formatFailure(format: OutputFormat, { issues }: AttemptResult): FormatFailure {
  const expectedType = format.schema ?? (format.type === 'text' ? 'string' : 'json')
  const actualType = actualTypeIn(issues)
  return {
    message: `Expected output of type "${expectedType}" but got "${actualType}"`,
    details: { expectedType, actualType },
  }
}

/** What is wrong inside is wrong inside a list, for short types have no other insides; where no value was found, there was text. */
function actualTypeIn(issues: AttemptResult['issues']): string {
  for (const issue of issues) {
    if (!('pointer' in issue.at) || !('actual' in issue)) continue
    const inner = issue.at.pointer.replace(/^\/value(?=\/|$)/, '')
    return inner === '' ? (jsonType(issue.actual) ?? typeof issue.actual) : 'array'
  }
  return 'string'
}
