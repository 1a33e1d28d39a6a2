/** Mistakes in limits of the fleet and in circuits. */
import { firstLimitSeed as from } from '../scenario.ts'
import type { Mutant } from './mutant.ts'

const share = 'src/engine/limits/share-permits.ts'
const permits = 'src/engine/limits/permits.ts'
const gate = 'src/engine/limits/gate.ts'

export const limitMutants: readonly Mutant[] = [
  {
    name: 'the permits of a process that died never return',
    file: share,
    find: '([name, { until }]) => name !== owner && (now === undefined || until > now),',
    replace: '([name]) => name !== owner,',
    from,
    seed: from + 14,
  },
  {
    name: 'a process that takes over work does not count the permits of others',
    file: share,
    find: 'const free = concurrency - others.reduce((sum, [, { held }]) => sum + held, 0)',
    replace: 'const free = concurrency',
    from,
    seed: from + 94,
  },
  {
    name: 'a process uses permits whose lease it has written without the time',
    file: permits,
    find: 'if (storeTime === undefined) return false',
    replace: '',
    from,
    seed: from + 94,
  },
  {
    name: 'permits are not renewed',
    file: permits,
    find: 'const isRenewal = now - counter.writtenAt >= leaseMs / 3',
    replace: 'const isRenewal = counter.writtenAt === 0',
    from,
    seed: from + 110,
  },
  {
    name: 'an attempt that has ended keeps its permit',
    file: 'src/engine/run-loop/slots.ts',
    find: 'gate.release(capabilityId, tenant)',
    replace: '',
    from,
    seed: from + 1,
  },
  {
    name: 'runs that wait for permits of others are not called again',
    file: permits,
    find: 'if (!isClosed && counter.waiting.size > 0) onFree()',
    replace: '',
    from,
    seed: from,
  },
  {
    name: 'runs that wait for a circuit are not called again',
    file: gate,
    find: 'if (circuitWaits.size > 0 && now - circuitsAskedAt >= circuitMs) {',
    replace: 'if (circuitWaits.size < 0) {',
    from,
    seed: from + 104,
  },
  {
    name: 'a circuit that is open is never probed',
    file: 'src/engine/limits/circuits.ts',
    find: 'openUntil <= at && probeUntil <= at',
    replace: 'probeUntil <= at && openUntil <= 0',
    from,
    seed: from + 104,
  },
]
