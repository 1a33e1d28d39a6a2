/** Entry point `proviso/vue`: `useRun` for Vue 3.4 and later. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  getCurrentInstance,
  type MaybeRefOrGetter,
  onMounted,
  type ShallowRef,
  shallowReadonly,
  shallowRef,
  toValue,
  watch,
} from 'vue'
import type { Client, OutputOption } from '../create-client.ts'
import { createRunView, type OutputOf, type RunView } from './run-view.ts'

export type { NodeView, RunView } from './run-view.ts'

/**
 * Follows a run while the component is mounted, or its effect scope active: its events, nodes, asks, output and error.
 * Reconnects without gaps. The id may be a ref or a getter; without one it is `idle`. With `output`, the answer is validated
 * and typed by that schema.
 *
 * @example
 * const run = useRun(client, () => props.runId, { output: Line })
 */
export function useRun<Schema extends StandardSchemaV1>(
  client: Client,
  runId: MaybeRefOrGetter<string | undefined>,
  options: OutputOption<Schema>,
): Readonly<ShallowRef<RunView<OutputOf<Schema>>>>
export function useRun<Output = unknown>(
  client: Client,
  runId: MaybeRefOrGetter<string | undefined>,
): Readonly<ShallowRef<RunView<Output>>>
export function useRun(
  client: Client,
  runId: MaybeRefOrGetter<string | undefined>,
  options?: OutputOption<StandardSchemaV1>,
): Readonly<ShallowRef<RunView<unknown>>> {
  const view = shallowRef(createRunView<unknown>(client, toValue(runId), options).getSnapshot())
  const follow = () =>
    watch(
      () => toValue(runId),
      (id, _, onCleanup) => {
        const store = createRunView<unknown>(client, id, options)
        view.value = store.getSnapshot()
        onCleanup(
          store.subscribe(() => {
            view.value = store.getSnapshot()
          }),
        )
      },
      { immediate: true },
    )
  // A server renders without following; mounted hooks run in the browser only.
  if (getCurrentInstance()) onMounted(() => void follow())
  else follow()
  return shallowReadonly(view)
}
