/** Number of open asks, for the menu and the title of the tab. */
import { type Ref, shallowRef } from 'vue'
import { usePolling } from './live/use-polling.ts'
import { getClient, hasRole } from './session.ts'

const count = shallowRef(0)
const most = 99

export function openInboxCount(): Ref<number> {
  usePolling(refreshInboxCount, 4_000)
  return count
}

export async function refreshInboxCount(): Promise<void> {
  if (!hasRole('operator')) return
  let open = 0
  for await (const _ of getClient().asks.list()) if (++open >= most) break
  count.value = open
}
