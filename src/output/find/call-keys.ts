/** Finds the keys under which a schema has the name and the arguments of tool calls. */
import { memoize } from '../../base/memoize.ts'
import type { Shape } from '../../schema/shape.ts'
import type { Guided } from '../schema/target.ts'

export const NAMES = [
  'name',
  'tool',
  'tool_name',
  'toolName',
  'function',
  'function_name',
  'functionName',
  'action',
]
export const ARGUMENTS = [
  'arguments',
  'args',
  'parameters',
  'params',
  'input',
  'tool_input',
  'toolInput',
  'kwargs',
]

/** The keys of a call in the schema. */
export interface CallKeys {
  readonly name: string
  readonly args: string
  /** The schema lists the names of the tools. */
  readonly listed: boolean
}

/** The keys under which the schema, or each item of its list, has the name and the arguments of a call. */
export const findCallKeys = memoize(findKeys)

function findKeys({ root, shapes }: Guided): CallKeys | undefined {
  const call = root.types.includes('array') ? shapes.at(root.item(0)) : root
  const branches = shapes.branchesOf(call)
  const all = call.names.length > 0 || branches.length === 0 ? [call] : branches
  const common = (names: readonly string[]): string | undefined =>
    names.find((name) => all.every((shape) => shape.required.has(name)))
  const name = common(NAMES)
  const args = common(ARGUMENTS)
  if (name === undefined || args === undefined) return undefined
  const member = (shape: Shape, key: string): Shape => shapes.at(shape.member(key))
  if (!all.every((shape) => member(shape, args).types.includes('object'))) return undefined
  return { name, args, listed: all.every((shape) => member(shape, name).values !== undefined) }
}
