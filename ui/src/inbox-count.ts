/** Number of open asks, for the menu and the title of the tab. */
import { type Ref, shallowRef, watch } from 'vue'
import { usePolling } from './live/use-polling.ts'
import { getClient, hasRole, session } from './session.ts'

const count = shallowRef(0)
const most = 99

export function openInboxCount(): Ref<number> {
  usePolling(refreshInboxCount, 4_000)
  watch(
    () => session.me,
    () => void refreshInboxCount().catch(() => {}),
    { immediate: true },
  )
  return count
}

export async function refreshInboxCount(): Promise<void> {
  if (!hasRole('operator')) {
    count.value = 0
    return
  }
  let open = 0
  for await (const _ of getClient().asks.list()) if (++open >= most) break
  count.value = open
}
