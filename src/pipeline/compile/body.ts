/** The body of a map or a loop while it is compiled: a draft of its own, which sees from outside only what it is given. */
import type { Binding, Draft } from '../../domain/plan.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { mapOf } from '../../schema/made-schemas.ts'
import type { Step } from '../pipeline.ts'
import {
  asBinding,
  type Build,
  type CompileSteps,
  type ContextEntry,
  innerScope,
  type Scope,
} from './build.ts'
import { bring, type Region, type Value } from './value.ts'

export interface Body {
  readonly build: Build
  readonly region: Region
  /** What its node is bound to for it. */
  readonly inputs: Record<string, Binding>
  /** The same as members of a contract. */
  readonly members: Record<string, Pick<Value, 'schema' | 'certain'>>
}

export function openBody({ build, region: parent }: Scope): Body {
  const inputs: Record<string, Binding> = {}
  const members: Record<string, Pick<Value, 'schema' | 'certain'>> = {}
  const carried = new Map<string, Value>()
  const region: Region = {
    parent,
    carry(value) {
      const key = JSON.stringify(value.sources)
      const found = carried.get(key)
      if (found) return found
      const name = `x${carried.size}`
      inputs[name] = asBinding(value)
      members[name] = { schema: value.schema, certain: value.certain }
      const made = { ...given(region, `/${name}`, value.schema), certain: value.certain }
      carried.set(key, made)
      return made
    },
  }
  return {
    build: { ...build, nodes: [], edges: [], issues: [], notes: [], asks: 0 },
    region,
    inputs,
    members,
  }
}

/** Something that the body is given. */
export function given(region: Region, input: string, schema: JsonSchema): Value {
  return { sources: [{ input }], schema, certain: true, home: region }
}

export interface BodySteps {
  readonly steps: readonly Step[]
  readonly previous: Value
  readonly locals: ReadonlyMap<string, Value>
  /** What earlier rounds have put into the context. */
  readonly context?: readonly ContextEntry[]
}

export interface CompiledBody {
  readonly body: Body
  readonly value: Value
  /** What the steps put into the context. */
  readonly added: readonly ContextEntry[]
  /** The scope at its end. */
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

/** What is given belongs to the region of the body that is being compiled. */
function within(entry: ContextEntry, { region }: Body): ContextEntry {
  const { value } = entry
  return value.sources.some((source) => 'input' in source) && value.home === undefined
    ? { ...entry, value: { ...value, home: region } }
    : entry
}

/** Its issues, notes and questions are those of the pipeline; `times`: how often it may run. */
export function closeBody(scope: Scope, { body }: CompiledBody, times: number): boolean {
  const { issues, notes, asks } = body.build
  scope.build.issues.push(...issues)
  scope.build.notes.push(...notes)
  scope.build.asks += asks * times
  return issues.length === 0
}

export function bodyDraft({ build }: Body, output: NonNullable<Draft['output']>): Draft {
  return { nodes: build.nodes, edges: build.edges, output }
}

/** The contract of what a map or a loop is bound to: what is not certain may be absent. */
export function bodyInput({ members }: Body, own: 'items' | 'state'): JsonSchema {
  return mapOf({ [own]: { schema: true, certain: true }, ...members })
}
