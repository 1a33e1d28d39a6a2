/**
 * Whose turn it is on the event loop. Work that comes in bursts (requests, ends of attempts, streams to be written) asks for
 * a turn first: one pass of the loop then does a few milliseconds of it, and connections, timers and those who wait longest
 * get theirs in between.
 */

export interface Pace {
  /** Resolves when it is one's turn: `first` before everybody who only waits, in order otherwise. */
  turn(rank?: 'first' | 'usual'): Promise<void>
  /** Something came that is let in once a pass only, such as a connection: this pass takes one turn, for more may wait. */
  hurry(): void
}

/** After so long in one pass of the loop, the rest waits for the next; one turn is taken in any case. */
const passMs = 4
/** Most turns in one pass. */
const mostTurns = 32
/** Turns of one pass that nobody waits for: as long as little is going on, asking costs next to nothing. */
const freeTurns = 8

export function createPace(now: () => number = () => performance.now()): Pace {
  const first: (() => void)[] = []
  const usual: (() => void)[] = []
  /** Turns that are called for in the next pass. */
  let called = 0
  let passEnds = 0
  let hurried = false
  /** Turns that were free since the last pass. */
  let free = 0
  let freeUntil = 0

  // What is called for while a pass is under way belongs to the next one; so the first one called for begins a pass. Whatever
  // a turn starts at once is done before the next turn: microtasks run in between.
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

/** The one of this thread: it has one event loop. */
export const eventLoop: Pace = createPace()
