/** Compiles the body of a map or a loop: a separate draft that sees only its inputs. */
import type { Binding, Draft } from '../../../domain/plan.ts'
import { buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Step } from '../../parse/pipeline.ts'
import {
  asBinding,
  type Build,
  type CompileSteps,
  type ContextEntry,
  innerScope,
  type Scope,
} from '../build.ts'
import { bring, type Region, type Value } from '../value.ts'

interface Body {
  readonly build: Build
  readonly region: Region
  /** Bindings of the enclosing node that feed the body. */
  readonly inputs: Record<string, Binding>
  /** The same inputs as members of a contract. */
  readonly members: Record<string, Pick<Value, 'schema' | 'certain'>>
}

function openBody({ build, region: parent }: Scope): Body {
  const inputs: Record<string, Binding> = {}
  const members: Record<string, Pick<Value, 'schema' | 'certain'>> = {}
  const rebound = new Map<string, Value>()
  const region: Region = {
    parent,
    rebind(value) {
      const key = JSON.stringify(value.sources)
      const found = rebound.get(key)
      if (found) return found
      const name = `x${rebound.size}`
      inputs[name] = asBinding(value)
      members[name] = { schema: value.schema, certain: value.certain }
      const made = { ...given(region, `/${name}`, value.schema), certain: value.certain }
      rebound.set(key, made)
      return made
    },
  }
  return {
    build: { ...build, nodes: [], edges: [], issues: [], notes: [] },
    region,
    inputs,
    members,
  }
}

/** An input of the body, as a value. */
function given(region: Region, input: string, schema: JsonSchema): Value {
  return { sources: [{ input }], schema, certain: true, home: region }
}

interface BodySteps {
  readonly steps: readonly Step[]
  readonly previous: Value
  readonly locals: ReadonlyMap<string, Value>
  /** Context entries from earlier rounds. */
  readonly context?: readonly ContextEntry[]
}

export interface CompiledBody {
  readonly body: Body
  readonly value: Value
  /** Context entries that the steps add. */
  readonly added: readonly ContextEntry[]
  /** The scope after the last step. */
  readonly end: Scope
}

export function compileBody(scope: Scope, given: BodySteps, compileSteps: CompileSteps): CompiledBody {
  const body = openBody(scope)
  const { steps, previous, context = [] } = given
  const before = [...scope.context, ...context.map((entry) => within(entry, body))]
  const end = innerScope(scope, {
    build: body.build,
    prefix: '',
    region: body.region,
    tails: [],
    previous: within({ value: previous }, body).value,
    locals: new Map([
      ...scope.locals,
      ...[...given.locals].map(([name, value]) => [name, within({ value }, body).value] as const),
    ]),
    context: before,
  })
  const value = bring(compileSteps(end, steps), body.region)
  return { body, value, added: end.context.slice(before.length), end }
}

/** Assigns an input to the region of the body that is being compiled. */
function within(entry: ContextEntry, { region }: Body): ContextEntry {
  const { value } = entry
  return value.sources.some((source) => 'input' in source) && value.home === undefined
    ? { ...entry, value: { ...value, home: region } }
    : entry
}

/** Moves the issues and notes of the body to the enclosing build. */
export function closeBody(scope: Scope, { body }: CompiledBody): boolean {
  const { issues, notes } = body.build
  scope.build.issues.push(...issues)
  scope.build.notes.push(...notes)
  return issues.length === 0
}

export function bodyDraft({ build }: Body, output: NonNullable<Draft['output']>): Draft {
  return { nodes: build.nodes, edges: build.edges, output }
}

/** Input contract of a map or loop node: members that are not certain are optional. */
export function bodyInput({ members }: Body, own: 'items' | 'state'): JsonSchema {
  return buildMapSchema({ [own]: { schema: true, certain: true }, ...members })
}
