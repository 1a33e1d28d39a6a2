/** The door of health: from the spans of a store to a report of how well models keep to their contracts. */
export { type CsvPart, csvParts, healthCsv } from './csv.ts'
export type { Recommendation } from './recommendation.ts'
export { type HealthReport, healthReport, type ReportOptions, reportVersion } from './report.ts'
export { type HealthQuery, type Survey, surveyHealth } from './survey.ts'
