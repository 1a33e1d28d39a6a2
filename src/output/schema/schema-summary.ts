/**
 * Summarises a schema in one short line, in a notation that models read well: `{ sku: string, qty?: integer }[]`.
 * Called by `simplify.ts` for its field descriptions.
 */
import { isObject } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { branchesOf, resolveSchema, typesOf } from './resolve-schema.ts'

interface Context {
  readonly root: JsonSchema
  readonly refs: readonly string[]
  readonly depth: number
  /** Remaining number of parts, shared by the whole summary: bounds its length and its cost. */
  readonly budget: { left: number }
}

/** Below this depth only the type is named; parts beyond the budget are replaced by `…`. */
const MAX_DEPTH = 4
const MAX_PARTS = 100

export function summariseSchema(schema: unknown, root: JsonSchema, refs: readonly string[] = []): string {
  return draw(schema, { root, refs, depth: 0, budget: { left: MAX_PARTS } })
}

function draw(schema: unknown, context: Context): string {
  const resolved = resolveSchema(schema, context.root, context.refs)
  if (resolved === false) return 'nothing'
  const below = { ...context, refs: resolved.refs, depth: context.depth + 1 }
  const node = resolved.schema
  if (Object.hasOwn(node, 'const')) return JSON.stringify(node.const)
  if (Array.isArray(node.enum)) return drawAll(node.enum, below, (value) => JSON.stringify(value)).join(' | ')
  const branches = branchesOf(node)
  if (branches.length > 0) {
    return below.depth > MAX_DEPTH
      ? 'JSON'
      : drawAll(branches, below, (branch) => draw(branch, below)).join(' | ')
  }
  const types = typesOf(node)
  if (types.length === 0) return resolved.open ? 'JSON' : 'any'
  return types.map((type) => drawType(type, node, below)).join(' | ')
}

function drawType(type: string, node: Readonly<Record<string, unknown>>, below: Context): string {
  if (below.depth > MAX_DEPTH) return type
  if (type === 'array') {
    if (!isObject(node.items)) return 'array'
    const item = draw(node.items, below)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (type !== 'object') return type
  if (isObject(node.properties) && Object.keys(node.properties).length > 0) {
    const required = Array.isArray(node.required) ? node.required : []
    const parts = drawAll(Object.entries(node.properties), below, ([name, schema]) => {
      const mark = required.includes(name) ? '' : '?'
      return `${drawName(name)}${mark}: ${draw(schema, below)}`
    })
    return `{ ${parts.join(', ')} }`
  }
  return isObject(node.additionalProperties)
    ? `{ [name]: ${draw(node.additionalProperties, below)} }`
    : 'object'
}

function drawName(name: string): string {
  return /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
}

/** As many parts as the budget allows. */
function drawAll<T>(parts: readonly T[], { budget }: Context, drawOne: (part: T) => string): string[] {
  const drawn: string[] = []
  for (const part of parts) {
    if (budget.left <= 0) return [...drawn, '…']
    budget.left--
    drawn.push(drawOne(part))
  }
  return drawn
}
