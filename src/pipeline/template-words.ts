/** The words of templates that rules and fixers must know. */
import { filters } from './filters.ts'

export const templateFilters: readonly string[] = Object.keys(filters)

/** How a template names the output of a step; nothing for names that it cannot spell. */
export function outputOfStep(name: string): string | undefined {
  return /^[A-Za-z_][\w-]*$/.test(name) ? `steps.${name}.output` : undefined
}
