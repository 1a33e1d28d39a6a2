/** Repeats a request while the page is visible, so that lists stay current. */
import { onScopeDispose } from 'vue'

export function usePolling(load: () => Promise<unknown>, everyMs: number): void {
  let isBusy = false
  const run = async () => {
    if (document.hidden || isBusy) return
    isBusy = true
    await load().catch(() => {})
    isBusy = false
  }
  const timer = setInterval(run, everyMs)
  document.addEventListener('visibilitychange', run)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', run)
  })
}
