/** Chooses widgets for schemas, and finds what is obviously missing before a value is sent; the server checks everything. */

export interface FormSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: { readonly [name: string]: FormSchema }
  readonly required?: readonly string[]
  readonly items?: FormSchema
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly allOf?: readonly FormSchema[]
}

type Widget = 'text' | 'long-text' | 'number' | 'yes-no' | 'choice' | 'list' | 'object' | 'json'

/** Contracts of nodes combine schemas with `allOf`: one form shows them together. */
export function mergeParts({ allOf = [], ...schema }: FormSchema): FormSchema {
  let merged: FormSchema = schema
  for (const part of allOf.map(mergeParts)) merged = mergeTwo(merged, part)
  return merged
}

function mergeTwo(one: FormSchema, other: FormSchema): FormSchema {
  const values = one.enum && other.enum ? one.enum.filter((each) => other.enum?.includes(each)) : undefined
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])]
  return {
    ...other,
    ...one,
    ...(values && { enum: values }),
    ...((one.properties || other.properties) && { properties: { ...other.properties, ...one.properties } }),
    ...(required.length > 0 && { required }),
  }
}

export function chooseWidget(schema: FormSchema, value: unknown): Widget {
  if (schema.enum) return 'choice'
  const type = typeof schema.type === 'string' ? schema.type : undefined
  if (type === 'boolean') return 'yes-no'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'string') return isLong(schema, value) ? 'long-text' : 'text'
  if (type === 'array' && schema.items) return 'list'
  if (schema.properties && (type === 'object' || type === undefined)) return 'object'
  return 'json'
}

function isLong({ maxLength }: FormSchema, value: unknown): boolean {
  if (maxLength !== undefined && maxLength <= 120) return false
  return typeof value === 'string' && (value.length > 60 || value.includes('\n'))
}

export function labelOf({ title }: FormSchema, name = 'Value'): string {
  return title ?? name
}

export function emptyValue(schema: FormSchema): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'object') return {}
  if (schema.type === 'array') return []
  if (schema.type === 'boolean') return false
  return schema.type === 'string' ? '' : undefined
}

/** The problem of a member that is not there yet. */
export const isRequired = 'Is required'

/** Problems by JSON Pointer. */
export function findProblems(given: FormSchema, value: unknown, path = ''): { [pointer: string]: string } {
  const schema = mergeParts(given)
  if (value === undefined) return {}
  if (schema.enum && !schema.enum.some((each) => JSON.stringify(each) === JSON.stringify(value)))
    return { [path]: `Must be one of ${schema.enum.join(', ')}` }
  if (schema.type === 'integer' && !Number.isInteger(value)) return { [path]: 'Must be a whole number' }
  if (schema.type === 'number' && typeof value !== 'number') return { [path]: 'Must be a number' }
  if (schema.type === 'string' && typeof value !== 'string') return { [path]: 'Must be a text' }
  if (typeof value === 'string' && schema.maxLength !== undefined && value.length > schema.maxLength)
    return { [path]: `Must have at most ${schema.maxLength} characters` }
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum)
    return { [path]: `Must be at least ${schema.minimum}` }
  if (typeof value === 'number' && schema.maximum !== undefined && value > schema.maximum)
    return { [path]: `Must be at most ${schema.maximum}` }
  const found: { [pointer: string]: string } = {}
  if (schema.properties && typeof value === 'object' && value !== null) {
    const members = value as { readonly [name: string]: unknown }
    for (const name of schema.required ?? [])
      if (members[name] === undefined) found[`${path}/${escapeKey(name)}`] = isRequired
    for (const [name, member] of Object.entries(schema.properties))
      Object.assign(found, findProblems(member, members[name], `${path}/${escapeKey(name)}`))
  }
  if (Array.isArray(value) && schema.items)
    value.forEach((item, index) => {
      Object.assign(found, findProblems(schema.items ?? {}, item, `${path}/${index}`))
    })
  return found
}

function escapeKey(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
