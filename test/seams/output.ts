/** Test seam: the reader with its counters. */

export { readerIssueTable } from '../../src/output/issue-table.ts'
export { parseCounted } from '../../src/output/parse.ts'
export { ruleTable } from '../../src/output/report/rule-table.ts'
