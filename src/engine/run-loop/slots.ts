/**
 * Room for attempts in this process, shared fairly: whoever found no room waits in line, and a run that has just given a
 * place back does not take it again before those who wait. While there is room, whoever is in line and has not found out
 * that it is of no use to him gets a turn, one place a turn.
 */
export interface SlotLimits {
  /** Attempts of the whole process at one time. Default 1,000: calls wait for others, and what they need of this process is little. */
  readonly process?: number
  /** Attempts of one capability at one time. Default: no limit. */
  readonly capability?: (capabilityId: string) => number | undefined
}

export interface Slots {
  /** Takes a place for an attempt of this run, if there is one and it is not another's turn. */
  take(runId: string, capabilityId: string): boolean
  /** Takes a place for an attempt that is under way already, whether or not there is one. */
  occupy(capabilityId: string): void
  give(capabilityId: string): void
  /**
   * The run has had its step, whether or not it was its turn. If it could use more than it got, it is called when it is its
   * turn, which may be at once; if not, it does not wait any more.
   */
  done(runId: string, wish: { readonly more: boolean }): void
  /** Nobody gets a place any more. */
  close(): void
  readonly taken: number
}

export function createSlots(limits: SlotLimits, call: (runId: string) => void): Slots {
  let most = limits.process ?? 1_000
  const byCapability = new Map<string, number>()
  /** In the order in which they came, with the last count of gifts at which each found no room for what it wants. */
  const line = new Map<string, number>()
  const refusals = new Map<string, number>()
  let turn: string | undefined
  let used = false
  let taken = 0
  /** How often a place was given back: who found no room before the last time may find some now. */
  let gifts = 0

  const next = () => {
    if (turn !== undefined || taken >= most) return
    for (const [runId, refused] of line) {
      if (refused === gifts) continue
      line.delete(runId)
      turn = runId
      used = false
      call(runId)
      return
    }
  }
  return {
    take(runId, capabilityId) {
      // Another's turn, or one place taken in this turn already: that says nothing of whether there is room.
      refusals.delete(runId)
      if (turn === runId ? used : turn !== undefined || line.size > 0) return false
      const busy = byCapability.get(capabilityId) ?? 0
      if (taken >= most || busy >= (limits.capability?.(capabilityId) ?? Number.POSITIVE_INFINITY)) {
        refusals.set(runId, gifts)
        return false
      }
      byCapability.set(capabilityId, busy + 1)
      taken++
      if (turn === runId) used = true
      return true
    },
    occupy(capabilityId) {
      byCapability.set(capabilityId, (byCapability.get(capabilityId) ?? 0) + 1)
      taken++
    },
    give(capabilityId) {
      const left = (byCapability.get(capabilityId) ?? 1) - 1
      if (left > 0) byCapability.set(capabilityId, left)
      else byCapability.delete(capabilityId)
      taken--
      gifts++
      next()
    },
    done(runId, { more }) {
      if (more) line.set(runId, refusals.get(runId) ?? -1)
      else line.delete(runId)
      refusals.delete(runId)
      if (turn === runId) turn = undefined
      next()
    },
    close() {
      most = 0
    },
    get taken() {
      return taken
    },
  }
}
