/**
 * Group commit: collects writes while a commit is in progress and commits them together, so that all share one disk sync. A
 * write is acknowledged only when its commit is done.
 */
import { ProvisoError } from '../../../base/errors/error.ts'
import { createPace, type Pace } from '../../../base/time/pace.ts'

export interface GroupCommitOptions<W, R> {
  /** Writes all of them or none; results in the order of the writes. */
  readonly commit: (writes: readonly W[]) => Promise<readonly R[]>
  /** How many commits may be under way at one time. */
  readonly lanes: number
  /** The most writes in one commit. */
  readonly most: number
  /** Whether one write of several may be to blame for the error, so that each is tried alone. */
  readonly isOnesFault: (error: unknown) => boolean
  /** Schedules the answers. Default: a scheduler of its own. */
  readonly pace?: Pace | undefined
  /** Writes that are answered first. Default: none. */
  readonly comesFirst?: (write: W) => boolean
}

export interface GroupCommit<W, R> {
  submit(write: W): Promise<R>
  /** Accepts nothing more, and waits for what was accepted. */
  close(): Promise<void>
}

/** Writes of one commit that are answered in the same breath. */
const atOnce = 4

interface Pending<W, R> {
  readonly write: W
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

export function createGroupCommit<W, R>({
  commit,
  lanes,
  most,
  isOnesFault,
  pace = createPace(),
  comesFirst = () => false,
}: GroupCommitOptions<W, R>): GroupCommit<W, R> {
  const pending: Pending<W, R>[] = []
  let under = 0
  let scheduled = false
  let closed = false
  let drained = () => {}

  function schedule(): void {
    if (scheduled || under >= lanes || pending.length === 0) return
    scheduled = true
    // After everything that this turn of the event loop has to say, so that it goes together.
    setImmediate(() => {
      scheduled = false
      under += 1
      void settle(pending.splice(0, most)).then(() => {
        under -= 1
        if (pending.length > 0) schedule()
        else if (under === 0) drained()
      })
      schedule()
    })
  }

  async function settle(batch: readonly Pending<W, R>[]): Promise<void> {
    try {
      const results = await commit(batch.map(({ write }) => write))
      for (const [index, { write, resolve }] of batch.entries()) {
        // Each answered writer continues its work: answer a few at once, the others in later turns.
        const answer = () => resolve(results[index] as R)
        if (index < atOnce) answer()
        else void pace.turn(comesFirst(write) ? 'first' : 'usual').then(answer)
      }
    } catch (error) {
      if (batch.length > 1 && isOnesFault(error)) for (const one of batch) await settle([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  return {
    submit: (write) =>
      new Promise((resolve, reject) => {
        if (closed) throw new ProvisoError('store/closed', 'The store is closed')
        pending.push({ write, resolve, reject })
        schedule()
      }),

    async close() {
      closed = true
      if (pending.length === 0 && under === 0) return
      await new Promise<void>((resolve) => {
        drained = resolve
      })
    },
  }
}
