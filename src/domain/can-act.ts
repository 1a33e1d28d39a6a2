/** Whether a capability can do more than answer (RAO's execution authority). Asked by the proof, and again before a call leaves. */
import type { Capability } from './capability.ts'

const actingKinds: ReadonlySet<string> = new Set(['http', 'mcp'])

export function canAct({
  kind,
  sideEffect,
  settings,
}: Pick<Capability, 'kind' | 'sideEffect' | 'settings'>): boolean {
  const tools = settings?.['tools']
  return sideEffect || actingKinds.has(kind) || (Array.isArray(tools) && tools.length > 0)
}
