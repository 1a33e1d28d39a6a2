/** What Proviso offers as MCP tools: capabilities, runs with a contract of the caller, and answers to what runs ask. */
import { sha256Hex } from '../../base/canonical.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Ask, Reply } from '../../domain/ask.ts'
import type { Capability, ContractSide } from '../../domain/capability.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { builtinCapabilities, compileContract } from '../../plan/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

/** The parts of an app that its MCP server uses. */
export interface McpApp {
  capabilities(tenant?: string): readonly Capability[]
  facets(tenant?: string): readonly Facet[]
  /** The same `runId` with the same envelope is the same run. */
  start(envelope: never, options: never): Promise<{ readonly id: string }>
  result(runId: string, signal?: AbortSignal): Promise<McpRunResult>
  watch(runId: string, options: { readonly signal: AbortSignal }): AsyncIterable<JournalEvent>
  reply(runId: string, reply: Reply): Promise<void>
  cancel(runId: string, given: { readonly by: string; readonly reason?: string }): Promise<void>
  readonly redactor: Redactor
}

/** How a run ended, or what it waits for. */
export interface McpRunResult {
  readonly runId: string
  readonly status: string
  readonly output?: unknown
  readonly issues: readonly { readonly message: string }[]
  readonly asks?: readonly Ask[]
}

/** A tool, and the run that a call of it starts. */
export interface ServedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean }
  toRun(inputs: Members): { readonly envelope: Json; readonly draft?: Json }
}

export type Members = { readonly [name: string]: Json }

const builtIn = new Set(builtinCapabilities.map(({ capabilityId }) => capabilityId))

/** The capabilities as tools: the named ones, else all that are active and not built in. */
export function listCapabilityTools(app: McpApp, named: readonly string[] = []): ServedTool[] {
  const wanted = new Set(named)
  return app
    .capabilities()
    .filter(({ capabilityId }) => (named.length > 0 ? wanted.has(capabilityId) : !builtIn.has(capabilityId)))
    .map((capability) => toServedTool(capability, app.facets()))
}

function toServedTool(capability: Capability, facets: readonly Facet[]): ServedTool {
  const { capabilityId, summary, displayName, sideEffect, idempotent } = capability
  const toSchema = (side: ContractSide, direction: 'input' | 'output'): JsonSchema =>
    Array.isArray(side)
      ? compileContract({ facets: side, catalog: facets, direction }).schema
      : (side as JsonSchema)
  const output = toSchema(capability.outputContract, 'output')
  const description = summary || displayName
  return {
    name: toName(capabilityId),
    description,
    inputSchema: asObject(toSchema(capability.inputContract, 'input')),
    ...(isObjectSchema(output) && { outputSchema: output }),
    annotations: { readOnlyHint: !sideEffect, idempotentHint: idempotent },
    toRun: (inputs) => ({
      envelope: { objective: description, outputContract: { schema: output as Json } },
      draft: {
        nodes: [
          {
            id: 'call',
            capabilityId,
            inputs: Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, { value }])),
          },
        ],
      },
    }),
  }
}

/** Starts a run that a planner plans. */
export const runTool: ServedTool = {
  name: 'proviso_run',
  description:
    'Runs an objective under contract: plans with the capabilities of this server, and returns a value that satisfies the JSON Schema `output`, or says why not',
  inputSchema: {
    type: 'object',
    properties: {
      objective: { type: 'string', minLength: 1 },
      inputs: { type: 'object' },
      output: { type: 'object', description: 'JSON Schema of the answer, an object' },
    },
    required: ['objective', 'output'],
    additionalProperties: false,
  },
  toRun: ({ objective, inputs, output }) => ({
    envelope: {
      objective: objective ?? '',
      ...(inputs !== undefined && { inputs }),
      outputContract: { schema: output ?? true },
    },
  }),
}

/** The same call under the same key of the caller is the same run. */
export function toRunId(tool: string, key: unknown): string | undefined {
  return typeof key === 'string' ? `mcp_${sha256Hex(`${tool}\n${key}`).slice(0, 32)}` : undefined
}

function toName(capabilityId: string): string {
  return capabilityId.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)
}

function isObjectSchema(schema: JsonSchema): boolean {
  return isObject(schema) && schema['type'] === 'object'
}

function asObject(schema: JsonSchema): JsonSchema {
  return isObject(schema) ? { ...schema, type: 'object' } : { type: 'object' }
}
