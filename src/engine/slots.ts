/**
 * Room for attempts in this process, shared fairly: whoever found no room waits in line, and a run that has just given a
 * place back does not take it again before those who wait. When there is room again, everybody in line gets a turn, one
 * place a turn, and rounds go on as long as somebody could use one.
 */
export interface SlotLimits {
  /** Attempts of the whole process at one time. Default 64. */
  readonly process?: number
  /** Attempts of one capability at one time. Default: no limit. */
  readonly capability?: (capabilityId: string) => number | undefined
}

export interface Slots {
  /** Takes a place for an attempt of this run, if there is one and it is not another's turn. */
  take(runId: string, capabilityId: string): boolean
  give(capabilityId: string): void
  /** The run found no room: it is called when it is its turn. */
  wait(runId: string): void
  /** The run has taken what it wanted of its turn. Called after every step, whether or not it had one. */
  done(runId: string): void
  readonly taken: number
}

export function createSlots(limits: SlotLimits, call: (runId: string) => void): Slots {
  const most = limits.process ?? 64
  const byCapability = new Map<string, number>()
  /** In the order in which they came; a Set keeps it. */
  const line = new Set<string>()
  let round: string[] = []
  let turn: string | undefined
  let used = false
  let progress = false
  let taken = 0

  const next = () => {
    if (turn !== undefined || taken >= most) return
    if (round.length === 0 && progress) {
      progress = false
      round = [...line]
    }
    for (let runId = round.shift(); runId !== undefined; runId = round.shift()) {
      if (!line.delete(runId)) continue
      turn = runId
      used = false
      call(runId)
      return
    }
  }
  return {
    take(runId, capabilityId) {
      if (turn === runId ? used : turn !== undefined || line.size > 0) return false
      const busy = byCapability.get(capabilityId) ?? 0
      if (taken >= most || busy >= (limits.capability?.(capabilityId) ?? Number.POSITIVE_INFINITY))
        return false
      byCapability.set(capabilityId, busy + 1)
      taken++
      if (turn === runId) {
        used = true
        progress = true
      }
      return true
    },
    give(capabilityId) {
      const left = (byCapability.get(capabilityId) ?? 1) - 1
      if (left > 0) byCapability.set(capabilityId, left)
      else byCapability.delete(capabilityId)
      taken--
      progress = true
      next()
    },
    wait: (runId) => void line.add(runId),
    done(runId) {
      if (turn !== runId) return
      turn = undefined
      next()
    },
    get taken() {
      return taken
    },
  }
}
