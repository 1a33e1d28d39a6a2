/**
 * Cooperative scheduling on the event loop, one scheduler per app. Work that arrives in bursts (requests, finished attempts, stream writes) waits
 * for a turn first: one pass of the loop runs a few milliseconds of it, so that connections, timers and the
 * longest-waiting work get their turn in between.
 */

export interface Pace {
  /** Resolves when the caller may run: `first` before all `usual` callers, otherwise in FIFO order. */
  turn(rank?: 'first' | 'usual'): Promise<void>
  /**
   * Limits this pass to one turn. Called for work that the loop admits once per pass, such as a connection: more may be
   * queued.
   */
  hurry(): void
}

/** Time slice of one pass; the rest waits for the next. At least one turn runs per pass. */
const passMs = 4
/** Maximum number of turns in one pass. */
const mostTurns = 32
/** Turns per pass that resolve without waiting: under low load, a turn costs next to nothing. */
const freeTurns = 8

export function createPace(now: () => number = () => performance.now()): Pace {
  const first: (() => void)[] = []
  const usual: (() => void)[] = []
  /** Turns scheduled for the next pass. */
  let called = 0
  let passEnds = 0
  let hurried = false
  /** Free turns used since the last pass. */
  let free = 0
  let freeUntil = 0

  // Turns scheduled during a pass belong to the next one, so the first one scheduled begins a pass. Microtasks run between
  // turns: all that a turn starts synchronously finishes before the next turn.
  const arrange = () => {
    while (called < Math.min(first.length + usual.length, mostTurns)) setImmediate(take, called++ === 0)
  }
  const take = (begins: boolean) => {
    if (begins) {
      called = 0
      passEnds = hurried ? 0 : now() + passMs
      hurried = false
    }
    if (begins || now() < passEnds) (first.shift() ?? usual.shift())?.()
    arrange()
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
            ;(rank === 'first' ? first : usual).push(resolve)
            arrange()
          }),
    hurry() {
      hurried = true
    },
  }
}
