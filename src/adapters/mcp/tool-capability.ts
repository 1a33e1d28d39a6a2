/** Turns what an MCP server offers into capabilities: its tools, and the reading of its resources and prompts. */
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import { parseCapability } from '../../domain/capability/parse-capability.ts'
import type { Capability } from '../../domain/capability.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { McpServerOptions, ToolEffect } from './mcp-options.ts'

/** A tool as a server describes it. */
export interface ToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: Json
  readonly outputSchema?: Json | undefined
  readonly annotations?: {
    readonly title?: string | undefined
    readonly readOnlyHint?: boolean | undefined
    readonly idempotentHint?: boolean | undefined
  }
  readonly execution?: { readonly taskSupport?: string | undefined }
}

export type OfferedTool =
  | { readonly tool: string; readonly effect: ToolEffect; readonly capability: Capability }
  | { readonly tool: string; readonly problem: string }

/** What a capability of kind `mcp` calls. */
export interface McpTarget {
  readonly server: string
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get'
  readonly tool?: string
  /** The tool has an output schema, and returns structured content. */
  readonly isTyped?: boolean
}

const longestSummary = 4_000

/** Content blocks, which a tool without an output schema returns. */
const contentSchema = {
  type: 'object',
  properties: {
    content: {
      type: 'array',
      items: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
    },
    structuredContent: {},
  },
  required: ['content'],
} as const satisfies JsonSchema

export function toCapability(
  server: string,
  options: McpServerOptions,
  definition: ToolDefinition,
): OfferedTool {
  const { name, description = '', inputSchema, outputSchema, annotations = {} } = definition
  if (definition.execution?.taskSupport === 'required')
    return { tool: name, problem: 'it can only be called as a task, which is not supported' }
  const effect = getEffect(options, definition)
  const target: McpTarget = { server, method: 'tools/call', tool: name, isTyped: outputSchema !== undefined }
  const parsed = parseCapability({
    capabilityId: `${server}.${name.replace(/[^A-Za-z0-9_.:/-]+/g, '_')}`,
    version: getVersion(definition),
    displayName: definition.title || annotations.title || name,
    summary: description.slice(0, longestSummary),
    kind: 'mcp',
    inputContract: inputSchema,
    outputContract: outputSchema ?? contentSchema,
    idempotent: effect !== 'once',
    sideEffect: effect !== 'read',
    settings: { mcp: target },
  })
  if (parsed.ok) return { tool: name, effect, capability: parsed.value }
  const [first] = parsed.issues
  const where = first && 'pointer' in first.at ? `${first.at.pointer} ` : ''
  return { tool: name, problem: `its definition cannot be used: ${where}${first?.message ?? ''}` }
}

function getEffect(
  { effects = {}, trustAnnotations = false }: McpServerOptions,
  { name, annotations = {} }: ToolDefinition,
): ToolEffect {
  const configured = Object.hasOwn(effects, name) ? effects[name] : undefined
  if (configured) return configured
  if (trustAnnotations && annotations.readOnlyHint) return 'read'
  if (trustAnnotations && annotations.idempotentHint) return 'idempotent'
  return (Object.hasOwn(effects, '*') ? effects['*'] : undefined) ?? 'once'
}

/** Identifies the definition: what a model and a person read about the tool, and its schemas. */
function getVersion({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolDefinition): string {
  const about = { name, title, description, inputSchema, outputSchema, annotations }
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(about)) as Json)).slice(0, 16)
}

/** Reading resources and prompts changes nothing. */
export function readerCapabilities(
  server: string,
  has: { readonly resources: boolean; readonly prompts: boolean },
): Capability[] {
  const common = { kind: 'mcp', idempotent: true, sideEffect: false } as const
  const read = {
    ...common,
    capabilityId: `${server}:read_resource`,
    displayName: `Read a resource of ${server}`,
    summary: `Reads a resource of the MCP server "${server}" by its URI`,
    inputContract: {
      type: 'object',
      properties: { uri: { type: 'string' } },
      required: ['uri'],
      additionalProperties: false,
    },
    outputContract: {
      type: 'object',
      properties: { contents: { type: 'array', items: { type: 'object' } } },
      required: ['contents'],
    },
    settings: { mcp: { server, method: 'resources/read' } },
  }
  const prompt = {
    ...common,
    capabilityId: `${server}:get_prompt`,
    displayName: `Get a prompt of ${server}`,
    summary: `Gets a prompt of the MCP server "${server}" by its name`,
    inputContract: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        arguments: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['name'],
      additionalProperties: false,
    },
    outputContract: {
      type: 'object',
      properties: { description: { type: 'string' }, messages: { type: 'array', items: { type: 'object' } } },
      required: ['messages'],
    },
    settings: { mcp: { server, method: 'prompts/get' } },
  }
  return [...(has.resources ? [read] : []), ...(has.prompts ? [prompt] : [])].flatMap((given) => {
    const parsed = parseCapability(given)
    return parsed.ok ? [parsed.value] : []
  })
}
