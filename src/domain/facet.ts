/** A named, schema-typed unit of meaning that nodes need or supply. */
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

export type Direction = 'input' | 'output' | 'bidirectional'

export interface Facet {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly schema: JsonSchema
  /** Instruction for agents, models and people that work with the facet. */
  readonly semantics: { readonly instruction: string }
  readonly metadata: {
    readonly version: string
    readonly direction: Direction
    readonly dependencies?: readonly string[]
    /** The property of a contract that holds it; facets with one key merge there. Default: the name. */
    readonly propertyKey?: string
    readonly [key: string]: Json | undefined
  }
}
