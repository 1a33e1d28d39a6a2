/** Entry into nodes that may be skipped: a router, and a gate node per branch through which all outer values pass. */
import type { Condition } from '../../domain/contract.ts'
import type { Binding } from '../../domain/plan.ts'
import { buildMapSchema } from '../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { addNode, asBinding, type OpenNode, type Scope } from './build.ts'
import { functionId } from './functions.ts'
import type { Region, Value } from './value.ts'

export interface Router {
  readonly node: OpenNode
  /** Binds a value to the router, so that conditions can read it; returns its name there. */
  see(value: Value): string
  route(condition: Condition, to: readonly string[], label: string): void
  otherwise(to: readonly string[]): void
}

/** Adds a routing node with this id after the current tails. */
export function addRouter(scope: Scope, id: string): Router {
  const seen = new Map<string, string>()
  const members: Record<string, Value> = {}
  const node = addNode(scope, { id, kind: 'routing', inputs: {}, contracts: {}, routing: { routes: [] } })
  return {
    node,
    see(value) {
      const key = JSON.stringify(value.sources)
      const found = seen.get(key)
      if (found !== undefined) return found
      const name = `x${seen.size}`
      seen.set(key, name)
      node.inputs[name] = asBinding(value)
      members[name] = value
      node.contracts = { output: buildMapSchema(members) }
      return name
    },
    route(condition, to, label) {
      const { routes, ...rest } = node.routing ?? { routes: [] }
      node.routing = { ...rest, routes: [...routes, { condition, to, label }] }
    },
    otherwise(to) {
      node.routing = { ...(node.routing ?? { routes: [] }), elseTo: to }
    },
  }
}

export interface Gate {
  readonly begin: string
  readonly region: Region
  /** Binds the gate to an output of the router and returns it as a value for the branch. */
  bind(name: string, binding: Binding, schema: JsonSchema): Value
}

/**
 * Adds the gate, the first node of a branch. Everything inside is bound to it, so nothing inside runs unless
 * the branch is chosen.
 */
export function addGate(scope: Scope, router: Router, id: string): Gate {
  const members: Record<string, Pick<Value, 'schema' | 'certain'>> = {}
  const rebound = new Map<string, Value>()
  const node: OpenNode = {
    id,
    kind: 'branch',
    capabilityId: functionId('pass'),
    inputs: {},
    contracts: { output: { type: 'object' } },
  }
  scope.build.nodes.push(node)
  const take = (name: string, binding: Binding, value: Pick<Value, 'schema' | 'certain'>): Value => {
    node.inputs[name] = binding
    members[name] = value
    node.contracts = { output: buildMapSchema(members) }
    return {
      sources: [{ node: id, pointer: `/${name}` }],
      schema: value.schema,
      certain: value.certain,
      home: region,
    }
  }
  const region: Region = {
    parent: scope.region,
    rebind(value) {
      const key = JSON.stringify(value.sources)
      const found = rebound.get(key)
      if (found) return found
      const name = router.see(value)
      const made = take(name, { node: router.node.id, pointer: `/${name}` }, value)
      rebound.set(key, made)
      return made
    },
  }
  return {
    begin: id,
    region,
    bind: (name, binding, schema) => take(name, binding, { schema, certain: true }),
  }
}
