/** Test seam: clock, environment and JSON helpers. */
export { canonicalJson } from '../../src/base/canonical.ts'
export { errorTable } from '../../src/base/errors/error.ts'
export { isObject, own } from '../../src/base/json.ts'
export { createStop } from '../../src/base/stop.ts'
export { systemClock } from '../../src/base/time/clock.ts'
export { createPace } from '../../src/base/time/pace.ts'
export { envNames, readEnv } from '../../src/env.ts'
