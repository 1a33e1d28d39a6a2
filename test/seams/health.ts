/** Test seam: health reports and their figures. */
export { healthCsv } from '../../src/health/csv.ts'
export { healthReport } from '../../src/health/report.ts'
export { type HealthQuery, surveyHealth } from '../../src/health/survey.ts'
