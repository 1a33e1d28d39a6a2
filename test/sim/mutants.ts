/**
 * Mistakes that engines make, put into ours one at a time: a simulation that does not see them proves nothing. `seed` is the
 * first one that shows the mistake (`npm run sim -- --mutants` finds it anew).
 */
import { decisionMutants } from './mutants/decisions.ts'
import { limitMutants } from './mutants/limits.ts'
import { livenessMutants } from './mutants/liveness.ts'
import { loopMutants } from './mutants/loops.ts'
import type { Mutant } from './mutants/mutant.ts'
import { processMutants } from './mutants/processes.ts'

export type { Mutant } from './mutants/mutant.ts'

export const mutants: readonly Mutant[] = [
  ...processMutants,
  ...decisionMutants,
  ...livenessMutants,
  ...loopMutants,
  ...limitMutants,
]
