/** Mistakes that leave a caller without an answer: starts, results, replies, cancellations. */
import type { Mutant } from './mutant.ts'

const starts = 'src/engine/runs/active-runs.ts'
const inputs = 'src/engine/engine.ts'
const never = 'new Promise<never>(() => {})'

export const livenessMutants: readonly Mutant[] = [
  {
    name: 'a start whose run is claimed meanwhile gets no answer',
    file: 'src/engine/run-loop/turn.ts',
    find: "if (next.lease === undefined) effects.push({ kind: 'refuse', cause })\n    return",
    replace: 'return',
    seed: 3,
  },
  {
    name: 'a start that succeeds gets no answer',
    file: starts,
    find: 'own.add(runId)\n      resolve()',
    replace: 'own.add(runId)\n      if (!runId) resolve()',
    seed: 1,
  },
  {
    name: 'a start waits for ever for a store that does not answer',
    file: starts,
    find: 'refuse(unanswered(runId, answerMs))',
    replace: '',
    seed: 60,
  },
  {
    name: 'an engine that closes leaves its starts without an answer',
    file: starts,
    find: 'for (const [runId, { refuse }] of creating)',
    replace: 'for (const [runId, { refuse }] of [...creating].slice(creating.size))',
    seed: 3,
  },
  {
    name: 'a reply that is recorded gets no answer',
    file: inputs,
    find: 'record(runId, reply(outside, runId, redactor.known(given)))',
    replace: `record(runId, reply(outside, runId, redactor.known(given)).then(() => ${never}))`,
    seed: 1,
  },
  {
    name: 'a cancellation that is recorded gets no answer',
    file: inputs,
    find: 'record(runId, cancel(outside, runId, redactor.known(given)))',
    replace: `record(runId, cancel(outside, runId, redactor.known(given)).then(() => ${never}))`,
    seed: 12,
  },
  {
    name: 'a call waits for ever for a store that does not answer',
    file: 'src/base/time/clock.ts',
    find: 'reject(late())',
    replace: 'void [reject, late]',
    seed: 1,
  },
  {
    name: 'a result is not read again without a notification',
    file: 'src/engine/journal/journal.ts',
    find: 'const cancelTimer = clock.timer(clock.now() + pollMs, stopWaiting)',
    replace: 'const cancelTimer = () => void [clock, pollMs]',
    seed: 1,
  },
  {
    name: 'a result that was read is not reported',
    file: 'src/engine/journal/journal.ts',
    find: 'if (found) return found',
    replace: `if (found) {\n          await ${never}\n          return found\n        }`,
    seed: 1,
  },
]
