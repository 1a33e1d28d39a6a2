/**
 * Rewrites the texts and the secret members of a value in one walk. Copies only where something changes, because most
 * values have no secret: what has none is returned as it is.
 */
import { setOwn } from '../../base/json.ts'
import { isSecretMember, namesSecret } from './secret-keys.ts'

/** A key as rewritten, and whether it names a secret. */
interface Key {
  readonly text: string
  readonly names: boolean
}

/** Keys that were read before: the same few occur again and again. */
export type KnownKeys = Map<string, Key>

export interface Rewrite {
  readonly text: (text: string) => string
  /** Rewrites a value under a key that names a secret. Absent: names of keys do not matter. */
  readonly secret?: (value: unknown) => unknown
  readonly keys?: KnownKeys
  /** Rewrites numbers. Default: they are kept. */
  readonly number?: (value: number) => unknown
  /** Rewrites keys. Default: they are texts like others. */
  readonly key?: (text: string) => string
  /** Levels, and objects and lists in all, beyond which values are replaced by `cut`. */
  readonly deepest: number
  readonly nodes: number
  readonly cut: (value: unknown) => unknown
  /** Whether the value is written out: dates become texts, and what is not plain data is copied. */
  readonly isOutgoing?: boolean
}

interface Walk {
  readonly rewrite: Rewrite
  /** Objects and lists so far. */
  count: number
}

const mostKeys = 1_000
const longestKey = 100

export function rewriteValue(value: unknown, rewrite: Rewrite): unknown {
  if (typeof value === 'string') return rewrite.text(value)
  return rewriteAny(value, { rewrite, count: 0 }, 0)
}

function rewriteAny(value: unknown, walk: Walk, depth: number): unknown {
  const { rewrite } = walk
  if (typeof value === 'string') return rewrite.text(value)
  if (typeof value === 'number' && rewrite.number) return rewrite.number(value)
  if (typeof value === 'bigint' && rewrite.isOutgoing) return rewrite.text(String(value))
  if (typeof value !== 'object' || value === null) return value
  if (++walk.count > rewrite.nodes || depth >= rewrite.deepest) return rewrite.cut(value)
  if (!rewrite.isOutgoing)
    return Array.isArray(value) ? rewriteItems(value, walk, depth) : rewriteMembers(value, walk, depth)
  if (value instanceof Date) return value.toJSON()
  // What is not plain is copied first: its own code may write another text than its members.
  const isPlain = plainPrototypes.has(Object.getPrototypeOf(value)) && !Object.hasOwn(value, 'toJSON')
  if (Array.isArray(value)) return rewriteItems(isPlain ? value : [...value], walk, depth)
  return rewriteMembers(isPlain ? value : { ...value }, walk, depth)
}

const plainPrototypes: ReadonlySet<unknown> = new Set([Object.prototype, Array.prototype, null])

function rewriteItems(items: readonly unknown[], walk: Walk, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    const clean = rewriteAny(item, walk, depth + 1)
    if (clean === item) continue
    copy ??= [...items]
    copy[index] = clean
  }
  return copy ?? items
}

function rewriteMembers(value: object, walk: Walk, depth: number): object {
  const { rewrite } = walk
  let copy: object | undefined
  // No list of keys: it would be the most memory that the walk takes.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    const member = (value as Readonly<Record<string, unknown>>)[key]
    const { text, names } = rewrite.keys?.get(key) ?? readKey(key, rewrite)
    const isSecret = names && rewrite.secret !== undefined && isSecretMember(key, member)
    const clean = isSecret ? rewrite.secret?.(member) : rewriteAny(member, walk, depth + 1)
    if (copy === undefined) {
      if (clean === member && text === key) continue
      copy = copyMembersBefore(value, key)
    }
    setOwn(copy, text, clean)
  }
  return copy ?? value
}

function readKey(key: string, { text, key: rewriteKey = text, keys }: Rewrite): Key {
  const read = { text: rewriteKey(key), names: namesSecret(key) }
  // What a secret in a key becomes can differ from run to run.
  if (keys !== undefined && read.text === key && key.length <= longestKey && keys.size < mostKeys)
    keys.set(key, read)
  return read
}

function copyMembersBefore(value: object, last: string): object {
  const copy = {}
  for (const key of Object.keys(value)) {
    if (key === last) break
    setOwn(copy, key, Reflect.get(value, key))
  }
  return copy
}
