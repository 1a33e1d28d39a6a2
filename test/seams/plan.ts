/** Test seam: tables of the planning module. */
export { catalogIssueTable } from '../../src/plan/issue-table.ts'
