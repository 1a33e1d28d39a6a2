/** A capability: the work it does, what it needs and supplies, how it is called and what may be assumed of it. */
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Condition } from './contract.ts'
import type { RaoSettings } from './rao/settings.ts'
import type { HumanSettings } from './task/assignment.ts'

/** How a capability is called; each has a dispatcher. Third parties may add kinds with a dispatcher of their own. */
export type CapabilityKind = 'local' | 'model' | 'human' | 'scripted' | 'http' | 'mcp' | (string & {})

/** What a node stands for in a plan. */
export type NodeKind =
  | 'structuring'
  | 'branch'
  | 'execution'
  | 'transformation'
  | 'validation'
  | 'fallback'
  | 'routing'
  | 'map'
  | 'loop'

/** Facet names, or a schema where no facet exists (by hand; registrations over the wire give facets). */
export type ContractSide = readonly string[] | JsonSchema

export interface Capability {
  readonly capabilityId: string
  readonly version: string
  readonly displayName: string
  readonly summary: string
  readonly kind: CapabilityKind
  /** The place it takes in plans. Default `execution`. */
  readonly nodeKind: NodeKind
  readonly inputContract: ContractSide
  readonly outputContract: ContractSide
  /** Calling it twice with one key does no more than calling it once. Models are. Default false. */
  readonly idempotent: boolean
  /** It changes the world outside. Default false. */
  readonly sideEffect: boolean
  /** True of every output that it reports as done; checked before `node_complete`. */
  readonly postConditions: readonly Condition[]
  /** A RAO contract that its answers are under wherever a plan uses it. */
  readonly rao?: RaoSettings
  /** Of kind `human`: whom its tasks are assigned to. */
  readonly human?: HumanSettings
  readonly inputTraits?: {
    readonly languages?: readonly string[]
    readonly formats?: readonly string[]
    readonly strengths?: readonly string[]
    readonly limitations?: readonly string[]
    readonly [key: string]: Json | readonly string[] | undefined
  }
  readonly cost?: { readonly tier?: string; readonly estimatedTokens?: number }
  readonly preferredModels?: readonly string[]
  readonly heartbeat?: { readonly intervalSeconds?: number; readonly timeoutSeconds?: number }
  readonly metadata?: { readonly [key: string]: Json }
  /** What its dispatcher needs: the scripted answers, the model's instructions, the address. */
  readonly settings?: { readonly [key: string]: Json }
}

const actingKinds: ReadonlySet<string> = new Set(['http', 'mcp'])

/** Whether a capability can do more than answer (RAO's execution authority). Asked by the proof, and again before a call leaves. */
export function canAct({
  kind,
  sideEffect,
  settings,
}: Pick<Capability, 'kind' | 'sideEffect' | 'settings'>): boolean {
  const tools = settings?.['tools']
  return sideEffect || actingKinds.has(kind) || (Array.isArray(tools) && tools.length > 0)
}
