/** Entry point `proviso/react`: `useRun` for React 18 and later. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { useMemo, useRef, useSyncExternalStore } from 'react'
import type { Client, OutputOption } from '../create-client.ts'
import { createRunView, type OutputOf, type RunView } from './run-view.ts'

export type { NodeView, RunView } from './run-view.ts'

/**
 * Follows a run while the component is mounted: its events, nodes, asks, output and error. Reconnects without gaps. Without
 * an id it is `idle`. With `output`, the answer is validated and typed by that schema; the schema of the first render counts.
 *
 * @example
 * const { status, asks, output } = useRun(client, runId, { output: Line })
 */
export function useRun<Schema extends StandardSchemaV1>(
  client: Client,
  runId: string | undefined,
  options: OutputOption<Schema>,
): RunView<OutputOf<Schema>>
export function useRun<Output = unknown>(client: Client, runId: string | undefined): RunView<Output>
export function useRun(
  client: Client,
  runId: string | undefined,
  options?: OutputOption<StandardSchemaV1>,
): RunView<unknown> {
  // A schema written inside the component is a new object at every render: it must not start again.
  const first = useRef(options)
  const store = useMemo(() => createRunView<unknown>(client, runId, first.current), [client, runId])
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getServerSnapshot)
}
