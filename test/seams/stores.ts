/** Test seam: what tests of stores need behind the entry points: sample journals, the file driver, types of writes. */

export { columns, numberColumns } from '../../src/adapters/stores/sql/statements/columns.ts'
export { openLibsql } from '../../src/adapters/stores/sqlite/drivers/libsql.ts'
export type { SampleQuery } from '../../src/domain/ports/sample.ts'
export type { AnchorProblem, Append, NewRun } from '../../src/domain/ports/store.ts'
export { lifeEvents } from '../../src/testing/stores/projections.ts'
export {
  logEvent,
  newRun,
  planEvent,
  runningHead,
  sampleAsk,
  sampleEvent,
  startEvent,
} from '../../src/testing/stores/sample.ts'
export { type Attempt, attemptEvents, type TraceEntry } from '../../src/testing/stores/sampling.ts'
