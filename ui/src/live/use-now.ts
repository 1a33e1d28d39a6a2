/** The time, for durations and deadlines on a page; it moves every second while it is asked for. */
import { onScopeDispose, type ShallowRef, shallowRef } from 'vue'

export function useNow(): Readonly<ShallowRef<number>> {
  const now = shallowRef(Date.now())
  const clock = setInterval(() => {
    now.value = Date.now()
  }, 1_000)
  onScopeDispose(() => clearInterval(clock))
  return now
}
