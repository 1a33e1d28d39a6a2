/** Codes of the issues that the reader reports, one row each: the type of `code` and the reference are derived from it. */
import type { Issue } from '../base/errors/issue.ts'
import { refusedSchemaTable, schemaIssueTable } from '../schema/issue-table.ts'

export const readerIssueTable = {
  'output/empty': 'the text is empty',
  'output/not-found': 'no value was found in the text',
  'output/not-json': 'repairs are off, and the text is not strict JSON',
  'output/tolerance': 'the text can be read only with a rule above the tolerance',
  'output/stray-value': 'a value in an object has no key',
  'output/stage': 'a custom stage threw',
  'key/ambiguous': 'several keys of the text can mean the same property',
  'value/ambiguous': 'the value can be converted in several ways',
  'value/not-json': 'a constant that JSON does not have, where null is not allowed',
  'number/unsafe': 'a number would lose digits',
  'limit/bytes': 'the text is longer than `limits.bytes`',
  'limit/depth': 'the value is nested deeper than `limits.depth`',
  'limit/steps': 'reading takes more steps than `limits.steps`',
  'limit/deadline': 'off-thread reader: reading takes longer than `deadlineMs`',
  'limit/memory': 'off-thread reader: reading takes more than `memoryMb`',
  ...schemaIssueTable,
  ...refusedSchemaTable,
} as const satisfies Record<string, string>

/** Code of an issue of `parse`, `createReader` and the off-thread reader. */
export type ReaderIssueCode = keyof typeof readerIssueTable

export type ReaderIssue = Issue<ReaderIssueCode>
