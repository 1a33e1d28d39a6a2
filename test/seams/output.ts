/** Test seam: the reader with its counters. */
export { parseCounted } from '../../src/output/parse.ts'
export { ruleTable } from '../../src/output/report/rule-table.ts'
