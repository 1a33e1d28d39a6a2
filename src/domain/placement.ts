/**
 * Where and in which order the runs of a store are executed: `constraints.priority` and `constraints.placement` of the
 * envelope, and the labels of processes. A placement is kept as one text, so that a claim compares it with a list.
 */
import { isObject } from '../base/json.ts'

export type Priority = 'low' | 'normal' | 'high'

/** Higher is claimed first. */
export const priorityLevels = { low: -1, normal: 0, high: 1 } as const satisfies {
  readonly [P in Priority]: number
}

/** Labels of a process, or the labels that a run requires, such as `{ region: 'eu' }`. */
export type Labels = { readonly [name: string]: string }

/** A name or value of a label: no `=` and no comma, which separate them. */
export const labelPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** Each label doubles the placements that a process can serve. */
export const mostLabels = 5

/** The part of an envelope that is read here; its own type refers back to this file. */
type Constrained = { readonly constraints?: { readonly [name: string]: unknown } } | undefined

export function getPriority(envelope: Constrained): Priority {
  // Journals of tests and of other writers may lack constraints.
  const given = envelope?.constraints?.['priority']
  return given === 'low' || given === 'high' ? given : 'normal'
}

/** Returns the labels that a process needs for the run, as text; `undefined` if any process may execute it. */
export function getPlacement(envelope: Constrained): string | undefined {
  const given = envelope?.constraints?.['placement']
  const labels = isObject(given) ? Object.entries(given) : []
  return labels.length === 0 ? undefined : toPlacement(labels)
}

/** Lists every placement that a process with these labels can serve: one for each combination of them. */
export function listPlacements(labels: Labels = {}): readonly string[] {
  let combinations: (readonly (readonly [string, string])[])[] = [[]]
  for (const label of Object.entries(labels))
    combinations = combinations.flatMap((some) => [some, [...some, label]])
  return combinations.filter(({ length }) => length > 0).map(toPlacement)
}

function toPlacement(labels: readonly (readonly [string, unknown])[]): string {
  const sorted = labels.map(([name, value]) => `${name}=${String(value)}`).sort()
  return sorted.join(',')
}
