/** Test seam: health reports and their figures. */
export { healthCsv, healthReport } from '../../src/health/report.ts'
export { type HealthQuery, surveyHealth } from '../../src/health/survey.ts'
