/** A value that changes at the pace of a reader: while it moves, at most twice per second. */
import { onScopeDispose, type ShallowRef, shallowRef, watch } from 'vue'

const leastMs = 500

/** Follows `get` at once where it does not move, or has not changed for a while. */
export function useSteady<T>(get: () => T, isMoving: () => boolean): Readonly<ShallowRef<T>> {
  const shown = shallowRef(get()) as ShallowRef<T>
  let changedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const follow = () => {
    timer = undefined
    if (shown.value === get()) return
    shown.value = get()
    changedAt = performance.now()
  }
  watch([get, isMoving], ([next, moves]) => {
    const hasBoth = next !== undefined && shown.value !== undefined
    const waitMs = moves && hasBoth ? changedAt + leastMs - performance.now() : 0
    if (waitMs > 0) {
      timer ??= setTimeout(follow, waitMs)
      return
    }
    clearTimeout(timer)
    follow()
  })
  onScopeDispose(() => clearTimeout(timer))
  return shown
}
