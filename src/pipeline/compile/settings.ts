/** Merges the limits, constraints and contract of a step with those inherited from the importing steps. */
import type { NodeConstraints } from '../../domain/plan.ts'
import type { CallStep } from '../parse/pipeline.ts'
import type { Inherited, Scope } from './build.ts'

export function settingsOf({ inherited }: Scope, { node }: CallStep): CallStep['node'] {
  return inherited === undefined ? node : { ...node, ...inherit(inherited, node) }
}

/** For `onFail` the inner setting wins; constraints accumulate, and the strictest applies. */
export function inherit(outer: Inherited, own: Inherited): Inherited {
  const onFail = own.onFail ?? outer.onFail
  const constraints = stricter(outer.constraints, own.constraints)
  return { ...(onFail && { onFail }), ...(constraints && { constraints }) }
}

function stricter(
  a: NodeConstraints | undefined,
  b: NodeConstraints | undefined,
): NodeConstraints | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const least = Math.min(a.max_duration_ms ?? Infinity, b.max_duration_ms ?? Infinity)
  const flag = (key: Exclude<keyof NodeConstraints, 'max_duration_ms'>) =>
    (a[key] || b[key]) && { [key]: true }
  return {
    ...(Number.isFinite(least) && { max_duration_ms: least }),
    ...flag('no_credential_access'),
    ...flag('no_execution_authority'),
    ...flag('no_network_access'),
  }
}
