/**
 * Checks that a schema obeys the meta-schema of its draft: what form each keyword must have. The meta-schemas
 * themselves are not bundled: the table of keywords says the same in a fraction of the size and time.
 */

import { isObject, typeTests } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { type Form, keywords } from '../keywords.ts'
import { type Draft, findDraft, getDraftYear } from './draft.ts'

/** What is wrong with a schema, and where in it. */
interface Malformed {
  readonly pointer: Pointer
  readonly message: string
}

/** The year of the draft that brought a keyword. */
export function getIntroductionYear(keyword: string): number {
  return keywords.get(keyword)?.from ?? 0
}

/** The first place where a schema is not of its form; `undefined` if absent. Iterative: schemas may be deep. */
export function findMalformed(root: unknown, draft: Draft): Malformed | undefined {
  const stack: Visit[] = [{ schema: root, pointer: '', draft }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { schema, pointer } = visit
    if (typeof schema === 'boolean') continue
    if (!isObject(schema)) return { pointer, message: 'must be object,boolean' }
    const declared = pointer === '' ? 'undeclared' : findDraft(schema)
    const found = findInOne(
      schema,
      { ...visit, draft: declared === 'undeclared' || declared === 'unknown' ? visit.draft : declared },
      stack,
    )
    if (found !== undefined) return found
  }
  return undefined
}

interface Visit {
  readonly schema: unknown
  readonly pointer: Pointer
  readonly draft: Draft
}

function findInOne(schema: Record<string, unknown>, visit: Visit, stack: Visit[]): Malformed | undefined {
  const { pointer, draft } = visit
  // Up to draft-07 nothing beside `$ref` has a meaning.
  if (getDraftYear(draft) <= 7 && typeof schema['$ref'] === 'string') return undefined
  for (const [keyword, value] of Object.entries(schema)) {
    const row = keywords.get(keyword)
    if (row === undefined || row.from > getDraftYear(draft)) continue
    const at = child(pointer, keyword)
    const wrong = check(row.form, value, draft)
    if (wrong !== undefined) return { pointer: at, message: wrong }
    pushParts(row.form, value, { pointer: at, draft }, stack)
  }
  return undefined
}

/** Says what a keyword must be, where it is not. */
function check(form: Form, value: unknown, draft: Draft): string | undefined {
  switch (form) {
    case 'positive':
      return must('number', value) ?? ((value as number) > 0 ? undefined : 'must be > 0')
    case 'exclusive':
      return checkExclusive(value, draft)
    case 'count':
      return must('integer', value) ?? ((value as number) >= 0 ? undefined : 'must be >= 0')
    case 'identifier':
      return must('string', value) ?? checkIdentifier(value as string, draft)
    case 'anchor':
      return (
        must('string', value) ??
        (anchorPattern.test(value as string) ? undefined : `must match ${anchorPattern.source}`)
      )
    case 'strings':
      return checkNames(value)
    case 'name lists':
      return (
        must('object', value) ??
        Object.values(value as object)
          .map(checkNames)
          .find(Boolean)
      )
    case 'type':
      return checkType(value)
    case 'schemas':
      return must('array', value) ?? ((value as unknown[]).length > 0 ? undefined : noItems)
    case 'map':
    case 'dependencies':
      return must('object', value)
    case 'items':
      return Array.isArray(value) && !allowsTuples(draft) ? 'must be object,boolean' : undefined
    case 'schema':
    case 'any':
      return undefined
    default:
      return must(form, value)
  }
}

/** Says that a value must be of a type, where it is not. */
function must(type: string, value: unknown): string | undefined {
  return typeTests[type]?.(value) ? undefined : `must be ${type}`
}

const noItems = 'must NOT have fewer than 1 items'

function repeats(list: readonly unknown[]): string | undefined {
  return new Set(list).size === list.length ? undefined : 'must NOT have duplicate items'
}

/** A list in `items` is a tuple up to 2019-09, and where no draft is declared: 2020-12 gives it no other meaning. */
export function allowsTuples(draft: Draft): boolean {
  return draft === 'undeclared' || getDraftYear(draft) <= 2019
}

function checkExclusive(value: unknown, draft: Draft): string | undefined {
  if (typeof value === 'boolean' && (draft === 'undeclared' || getDraftYear(draft) === 4)) return undefined
  if (typeof value === 'number' && draft !== '04') return undefined
  return draft === '04' ? 'must be boolean' : 'must be number'
}

const anchorPattern = /^[A-Za-z_][-A-Za-z0-9._]*$/

/** From 2019-09 on, `$id` has no fragment: names inside a document are anchors. Before, and where no draft is declared, it may be one. */
function checkIdentifier(value: string, draft: Draft): string | undefined {
  if (draft === 'undeclared' || getDraftYear(draft) < 2019) return undefined
  return /^[^#]*#?$/.test(value) ? undefined : 'must not have a fragment: use $anchor'
}

function checkNames(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be array'
  return value.every((name) => typeof name === 'string') ? repeats(value) : 'must be an array of strings'
}

function checkType(value: unknown): string | undefined {
  if (typeof value === 'string' && Object.hasOwn(typeTests, value)) return undefined
  const types = Object.keys(typeTests).sort()
  const named = [value].flat() as unknown[]
  if (named.length === 0) return noItems
  return named.every((type) => types.includes(type as string))
    ? repeats(named)
    : `must be one of ${JSON.stringify(types)}`
}

function pushParts(form: Form, value: unknown, visit: Omit<Visit, 'schema'>, stack: Visit[]): void {
  const { pointer, draft } = visit
  if (form === 'schema' || (form === 'items' && !Array.isArray(value))) {
    stack.push({ schema: value, pointer, draft })
    return
  }
  if (form !== 'schemas' && form !== 'items' && form !== 'map' && form !== 'dependencies') return
  for (const [name, schema] of Object.entries(value as object)) {
    if (form === 'dependencies' && Array.isArray(schema)) continue
    stack.push({ schema, pointer: child(pointer, name), draft })
  }
}
