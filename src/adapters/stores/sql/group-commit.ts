/**
 * Group commit: collects writes while a commit is in progress and commits them together, so that all share one disk sync. A
 * write is acknowledged only when its commit is on the disk, or when it is committed if it may be ahead of the disk.
 */
import { ProvisoError } from '../../../base/errors/error.ts'
import { createPace, type Pace } from '../../../base/time/pace.ts'

export interface GroupCommitOptions<W, R> {
  /** Writes all of them or none. */
  readonly commit: (writes: readonly W[]) => Promise<CommittedWrites<R>>
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
  /** Writes that may be answered before they are on the disk. Default: none. */
  readonly canBeAhead?: (write: W) => boolean
  /** Whether the result permits that, too. */
  readonly isAhead?: (result: R) => boolean
}

/** What a commit returns: results in the order of the writes, and how to wait for the disk; absent: they are on the disk. */
export interface CommittedWrites<R> {
  readonly results: readonly R[]
  readonly whenDurable?: () => Promise<void>
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
  readonly canBeAhead: boolean
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

interface Answer<W, R> extends Pending<W, R> {
  readonly result: R
}

/** A batch of which some writes wait for the disk. */
interface Synced {
  readonly done: Promise<void>
}

/** Each answered writer continues its work: answers a few at once, the others in later turns. */
function answerAll<W, R>(
  answers: readonly Answer<W, R>[],
  { pace, comesFirst }: { readonly pace: Pace; readonly comesFirst: (write: W) => boolean },
): void {
  for (const [index, { write, resolve, result }] of answers.entries()) {
    if (index < atOnce) resolve(result)
    else void pace.turn(comesFirst(write) ? 'first' : 'usual').then(() => resolve(result))
  }
}

export function createGroupCommit<W, R>({
  commit,
  lanes,
  most,
  isOnesFault,
  pace = createPace(),
  comesFirst = () => false,
  canBeAhead = () => false,
  isAhead = () => true,
}: GroupCommitOptions<W, R>): GroupCommit<W, R> {
  const pending: Pending<W, R>[] = []
  const answer = (answers: readonly Answer<W, R>[]) => answerAll(answers, { pace, comesFirst })
  let under = 0
  /** Batches that wait for the disk: the next writes gather meanwhile, unless one of them need not wait. */
  let syncing = 0
  let urgent = 0
  let scheduled = false
  let closed = false
  let drained = () => {}

  function schedule(): void {
    if (scheduled || under >= lanes || pending.length === 0 || (syncing >= lanes && urgent === 0)) return
    scheduled = true
    // After everything that this turn of the event loop has to say, so that it goes together.
    setImmediate(() => {
      scheduled = false
      under += 1
      const batch = pending.splice(0, most)
      for (const each of batch) if (each.canBeAhead) urgent -= 1
      void settle(batch).then((synced) => {
        under -= 1
        if (synced !== undefined) {
          syncing += 1
          void synced.done.then(() => {
            syncing -= 1
            proceed()
          })
        }
        proceed()
      })
      schedule()
    })
  }

  function proceed(): void {
    if (pending.length > 0) schedule()
    else if (under === 0 && syncing === 0) drained()
  }

  /** Resolves when the batch is committed, with a promise if some of its writes wait for the disk. */
  async function settle(batch: readonly Pending<W, R>[]): Promise<Synced | undefined> {
    let committed: CommittedWrites<R>
    try {
      committed = await commit(batch.map(({ write }) => write))
    } catch (error) {
      if (batch.length > 1 && isOnesFault(error)) for (const one of batch) await (await settle([one]))?.done
      else for (const { reject } of batch) reject(error)
      return undefined
    }
    const { results, whenDurable } = committed
    const answers = batch.map((each, index) => ({ ...each, result: results[index] as R }))
    if (whenDurable === undefined) {
      answer(answers)
      return undefined
    }
    const waits = (each: (typeof answers)[number]) => !(each.canBeAhead && isAhead(each.result))
    answer(answers.filter((each) => !waits(each)))
    const waiting = answers.filter(waits)
    if (waiting.length === 0) return undefined
    const done = whenDurable().then(
      () => answer(waiting),
      (error: unknown) => {
        for (const { reject } of waiting) reject(error)
      },
    )
    return { done }
  }

  return {
    submit: (write) =>
      new Promise((resolve, reject) => {
        if (closed) throw new ProvisoError('store/closed', 'The store is closed')
        const isUrgent = canBeAhead(write)
        if (isUrgent) urgent += 1
        pending.push({ write, canBeAhead: isUrgent, resolve, reject })
        schedule()
      }),

    async close() {
      closed = true
      if (pending.length === 0 && under === 0 && syncing === 0) return
      await new Promise<void>((resolve) => {
        drained = resolve
      })
    },
  }
}
