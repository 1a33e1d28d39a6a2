/**
 * Applies the JSON Patch of an assistant to a draft envelope. The patch is untrusted: it may use three operations on own
 * properties, within limits, and is applied as a whole or not at all.
 */
import { applyPatch } from 'rfc6902'
import { isObject, type Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import { plainCopy } from '../../domain/parse/plain-copy.ts'

export interface Patch {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: Json
}

export const patchLimits = { patches: 50, depth: 32, pathLength: 1_000, characters: 256 * 1024 } as const

/** Members of an envelope that can be patched. */
export const patchedMembers = [
  'objective',
  'inputs',
  'constraints',
  'outputContract',
  'policies',
  'specialInstructions',
  'metadata',
] as const

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

type Patched =
  | { readonly ok: true; readonly draft: Draft }
  /** The draft is unchanged. */
  | { readonly ok: false; readonly reason: string }

export type Draft = { readonly [key: string]: Json }

export function applyPatches(draft: Draft, patches: readonly Patch[]): Patched {
  if (patches.length > patchLimits.patches)
    return refused(`${patches.length} operations, and ${patchLimits.patches} are the limit`)
  const copy = structuredClone(draft)
  for (const [index, patch] of patches.entries()) {
    const wrong = checkPatch(copy, patch)
    if (wrong !== undefined) return refused(`operation ${index}: ${wrong}`)
    const { op, path } = patch
    const value = structuredClone(patch.value ?? null)
    const [error] = applyPatch(copy, [op === 'remove' ? { op, path } : { op, path, value }])
    if (error) return refused(`operation ${index}: ${error.message}`)
  }
  const whole = plainCopy(copy)
  if (!whole.ok) return refused(whole.issue.message)
  if (JSON.stringify(copy).length > patchLimits.characters)
    return refused(`the draft would be longer than ${patchLimits.characters} characters`)
  return { ok: true, draft: copy }
}

function refused(reason: string): Patched {
  return { ok: false, reason }
}

function checkPatch(draft: Draft, { op, path, value }: Patch): string | undefined {
  if (op !== 'add' && op !== 'remove' && op !== 'replace')
    return `"${String(op)}" is not add, remove or replace`
  if (typeof path !== 'string' || !/^\//.test(path)) return 'its path must begin with /'
  if (path.length > patchLimits.pathLength)
    return `its path is longer than ${patchLimits.pathLength} characters`
  if (op !== 'remove' && value === undefined) return 'it has no value'
  const steps = tokens(path)
  if (steps.length > patchLimits.depth) return `its path is deeper than ${patchLimits.depth}`
  const odd = steps.find((step) => forbidden.has(step))
  if (odd !== undefined) return `"${odd}" is no member of an envelope`
  const [member = ''] = steps
  if (!patchedMembers.some((known) => known === member)) return `"${member}" is no member of an envelope`
  return checkPath(draft, steps, op)
}

/** Every step must exist as an own property; the last step of an `add` may be new. */
function checkPath(draft: Draft, steps: readonly string[], op: Patch['op']): string | undefined {
  let at: unknown = draft
  for (const [index, step] of steps.entries()) {
    const last = index === steps.length - 1
    const where = `/${steps.slice(0, index + 1).join('/')}`
    if (Array.isArray(at)) {
      const end = last && op === 'add' ? at.length : at.length - 1
      if (last && op === 'add' && step === '-') return undefined
      if (!/^(0|[1-9]\d{0,9})$/.test(step) || Number(step) > end) return `location ${where} not found`
      at = at[Number(step)]
    } else if (isObject(at)) {
      if (!Object.hasOwn(at, step)) return last && op === 'add' ? undefined : `location ${where} not found`
      at = at[step]
    } else return `location ${where} not found`
  }
  return undefined
}
