/** `[mcp.NAME]` of `proviso.toml`: MCP servers, with secrets taken from the environment by name. */
import { isObject, type Json } from '../../base/json.ts'
import { closed, count, flag, text, texts } from '../../domain/schemas/parts.ts'

/** The options of one server, as `createApp` takes them. */
export type McpSettings =
  | {
      readonly command: string
      readonly [option: string]: unknown
    }
  | { readonly url: string; readonly [option: string]: unknown }

const strings = { type: 'object', additionalProperties: { type: 'string' } } as const

const common = {
  effects: { type: 'object', additionalProperties: { enum: ['read', 'idempotent', 'once'] } },
  trust_annotations: flag,
  tools: texts,
  timeout_ms: count,
  connect_ms: count,
  max_bytes: count,
  protocol: { enum: ['auto', 'legacy', 'modern'] },
} as const

const server = {
  if: { required: ['url'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: closed(
    {
      ...common,
      url: text,
      headers: strings,
      allow: texts,
      oauth: closed({ client_id: text, client_secret: text, scope: text, issuer: text }, [
        'client_id',
        'client_secret',
        'issuer',
      ]),
    },
    ['url'],
  ),
  else: closed(
    { ...common, command: text, args: { type: 'array', items: { type: 'string' } }, env: strings, cwd: text },
    ['command'],
  ),
} as const

export const mcpSchema = {
  type: 'object',
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$' },
  additionalProperties: server,
} as const

/** Members with names of the author, which are kept as they are. */
export const mcpFreeNames = ['effects', 'env', 'headers'] as const

type Members = { readonly [name: string]: Json }

/** Reads the servers. `missing` names the variables that are referred to and not set, with the key that does. */
export function readMcpSettings(
  given: Json | undefined,
  env: Readonly<Record<string, string | undefined>>,
): {
  readonly servers: { readonly [name: string]: McpSettings }
  readonly missing: readonly MissingVariable[]
} {
  const missing: MissingVariable[] = []
  const servers = Object.entries(isObject(given) ? (given as Members) : {}).map(([name, options]) => {
    const read = (value: Json, path: readonly string[]): Json => {
      if (typeof value === 'string') return expand(value, { env, path, missing })
      if (Array.isArray(value)) return value.map((item: Json) => read(item, path))
      if (!isObject(value)) return value
      const isFree = mcpFreeNames.some((free) => free === path.at(-1))
      return Object.fromEntries(
        Object.entries(value as Members).map(([key, member]) => [
          isFree ? key : camel(key),
          read(member, [...path, key]),
        ]),
      )
    }
    return [name, read(options, ['mcp', name])]
  })
  return { servers: Object.fromEntries(servers) as { [name: string]: McpSettings }, missing }
}

export interface MissingVariable {
  readonly key: string
  readonly variable: string
}

interface Expanding {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly path: readonly string[]
  readonly missing: MissingVariable[]
}

/** Replaces `${NAME}` by the variable of the environment. */
function expand(value: string, { env, path, missing }: Expanding): string {
  return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, variable: string) => {
    const found = env[variable]
    if (found === undefined) missing.push({ key: path.join('.'), variable })
    return found ?? whole
  })
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
