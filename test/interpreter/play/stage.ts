/** What the parts of a real run of a case share. */
import type { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import type { App } from '../../../src/app.ts'
import type { AttemptResult } from '../../../src/domain/output.ts'
import type { DraftRequest } from '../../../src/domain/ports/planner.ts'
import type { Ledger } from '../../sim/ledger.ts'
import type { World } from '../../sim/world.ts'
import type { Case } from '../case.ts'
import type { Values } from '../values.ts'

export const runId = 'run'

/** What people write when they send work back. */
export const note = 'Not like this'

export interface PlayedCall {
  readonly capabilityId: string
  readonly nodeId: string
  readonly inputs: Values
  /** It received what a person said of earlier work. */
  readonly noted: boolean
  readonly at: number
}

export interface Stage {
  readonly given: Case
  readonly world: World
  readonly ledger: Ledger
  readonly calls: PlayedCall[]
  readonly planRequests: DraftRequest[]
  /** Tries of each attempt, by capability, address and number. */
  readonly tries: Map<string, number>
  /** Answers of agents that answer later, by idempotency key; they outlive every process. */
  readonly mailbox: Map<string, AttemptResult>
  /** What the first call under each idempotency key was given. */
  readonly keyed: Map<string, Values>
  readonly store: ReturnType<typeof createMemoryStore>
  /** The app that is alive. */
  app: App | undefined
  /** Why the caller's request itself was refused. */
  refused: string | undefined
  bear(): Promise<void>
  leave(): void
}
