/**
 * Cooperative scheduling on the event loop, one scheduler per app. Work that arrives in bursts (requests, finished attempts, stream writes) waits
 * for a turn first: one pass of the loop runs a few milliseconds of it, so that connections, timers and the
 * longest-waiting work get their turn in between.
 */

export interface Pace {
  /** Resolves when the caller may run: `first` before `usual` callers, otherwise in FIFO order. */
  turn(rank?: 'first' | 'usual'): Promise<void>
  /**
   * Lets turns wait for the next pass, for some milliseconds at most, and `usual` ones somewhat longer. Called for work that
   * the loop admits once per pass, such as a connection: more may be queued, and what waits together is written together.
   */
  hurry(): void
}

/** Time slice of one pass; the rest waits for the next. At least one turn runs per pass. */
const passMs = 4
/** For how long passes that hurry run no turns before the next time slice: as long as a slice, so that neither side starves. */
const hurryMs = 4
/** Maximum number of turns in one pass. */
const mostTurns = 32
/** Turns per pass that resolve without waiting: under low load, a turn costs next to nothing. */
const freeTurns = 8
/** A `usual` turn that has waited this long alternates with `first` turns: what was accepted is also carried out. */
const longestWaitMs = 250

interface Waiting {
  readonly since: number
  readonly resolve: () => void
}

export function createPace(now: () => number = () => performance.now()): Pace {
  const first: Waiting[] = []
  const usual: Waiting[] = []
  /** Turns scheduled for the next pass. */
  let called = 0
  let passEnds = 0
  let hurried = false
  /** Whether this pass hurries. */
  let isHurried = false
  /** When turns run again, even if every pass hurries; `undefined` after a pass with turns. */
  let hurryEnds: number | undefined
  /** Whether the last turn was a `first` one. */
  let wasFirst = false
  /** Free turns used since the last pass. */
  let free = 0
  let freeUntil = 0

  // Turns scheduled during a pass belong to the next one, so the first one scheduled begins a pass. Microtasks run between
  // turns: all that a turn starts synchronously finishes before the next turn.
  const arrange = () => {
    while (called < Math.min(first.length + usual.length, mostTurns)) setImmediate(take, called++ === 0)
  }
  const take = (begins: boolean) => {
    const at = now()
    if (begins) {
      called = 0
      isHurried = hurried
      hurried = false
      hurryEnds = isHurried ? (hurryEnds ?? at + hurryMs) : at
      const isSkipped = at < hurryEnds
      passEnds = isSkipped ? at : at + passMs
      if (!isSkipped) hurryEnds = undefined
    }
    if (at < passEnds) takeOne(at)
    arrange()
  }
  const takeOne = (at: number) => {
    const isLate = usual[0] !== undefined && at - usual[0].since >= longestWaitMs
    const isFirst = first.length > 0 && !(isLate && wasFirst)
    wasFirst = isFirst
    if (isFirst) first.shift()?.resolve()
    else if (isLate || !isHurried) usual.shift()?.resolve()
  }
  const pass = () => {
    free = 0
  }
  const isFree = () => {
    if (hurried || free >= freeTurns || first.length + usual.length > 0) return false
    if (free > 0 && now() >= freeUntil) return false
    if (free++ === 0) {
      freeUntil = now() + passMs
      setImmediate(pass)
    }
    return true
  }

  return {
    turn: (rank = 'usual') =>
      isFree()
        ? Promise.resolve()
        : new Promise((resolve) => {
            ;(rank === 'first' ? first : usual).push({ since: now(), resolve })
            arrange()
          }),
    hurry() {
      hurried = true
    },
  }
}
