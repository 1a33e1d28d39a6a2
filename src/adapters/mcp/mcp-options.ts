/** The options of MCP servers: how each is reached, and what may be assumed of its tools. Types and their checks; loads no SDK. */
import { isObject } from '../../base/json.ts'
import {
  type Check,
  each,
  milliseconds,
  must,
  name,
  object,
  type Rows,
  rowIssues,
} from '../../base/option-rows.ts'
import { child } from '../../base/pointer.ts'

/**
 * What calling a tool does: `read` changes nothing, `idempotent` may be repeated under the same arguments, `once` changes
 * something with every call. Annotations of the server are hints of an untrusted party and do not decide it.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once'

/** What holds for every server, however it is reached. */
interface CommonOptions {
  /** Effects by the name of the tool; `*` is for all others. Default `once`. */
  readonly effects?: { readonly [tool: string]: ToolEffect }
  /** Takes the effects of tools that `effects` does not name from the annotations of the server. Default false. */
  readonly trustAnnotations?: boolean
  /** Names of the tools to use. Default: all. */
  readonly tools?: readonly string[]
  /** Time limit of calls of nodes without a deadline. Default 120,000. */
  readonly timeoutMs?: number
  /** Time limit of connecting. Default 30,000. */
  readonly connectMs?: number
  /** Longest result in bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Protocol: `auto` asks the server first, `legacy` is up to 2025-11-25, `modern` from 2026-07-28. Default `auto`. */
  readonly protocol?: 'auto' | 'legacy' | 'modern'
}

/** A server that is started as a process and called over its standard input and output. */
export interface McpProcess extends CommonOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Variables of the process, besides a few of this one such as PATH and HOME. */
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
}

/** A server that is called over streamable HTTP. */
export interface McpEndpoint extends CommonOptions {
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** Private hosts that may be reached, such as `localhost:3000`. Default: public addresses over https only. */
  readonly allow?: readonly string[]
  /** Client credentials for servers with OAuth. */
  readonly oauth?: McpClientCredentials
  /** An `OAuthClientProvider` or `AuthProvider` of the MCP SDK, for other flows; in code only. */
  readonly authProvider?: object
}

interface McpClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  /** The authorization server that the credentials are for; they are sent to no other. */
  readonly issuer: string
}

export type McpServerOptions = McpProcess | McpEndpoint

/** Servers by name. The name is the first part of the ids of their capabilities: `NAME.TOOL`. */
export type McpServers = { readonly [name: string]: McpServerOptions }

const text = must((value) => typeof value === 'string', 'a text')
const texts = each(text)
const flag = must((value) => typeof value === 'boolean', 'true or false')
const effect = must(
  (value) => ['read', 'idempotent', 'once'].includes(value as string),
  '"read", "idempotent" or "once"',
)

const members =
  (check: Check): Check =>
  (value, at) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, member]) => check(member, child(at, key)))
      : object(value, at)

const commonRows = {
  effects: members(effect),
  trustAnnotations: flag,
  tools: texts,
  timeoutMs: milliseconds,
  connectMs: milliseconds,
  maxBytes: milliseconds,
  protocol: must(
    (value) => ['auto', 'legacy', 'modern'].includes(value as string),
    '"auto", "legacy" or "modern"',
  ),
} satisfies Rows

const processRows = {
  ...commonRows,
  command: name,
  args: texts,
  env: members(text),
  cwd: name,
} satisfies Rows

const oauthRows = { clientId: name, clientSecret: name, scope: name, issuer: name } satisfies Rows

const endpointRows = {
  ...commonRows,
  url: must((value) => typeof value === 'string' && URL.canParse(value), 'a URL', 'https://host/mcp'),
  headers: members(text),
  allow: texts,
  oauth: (value, at) =>
    isObject(value)
      ? rowIssues({ clientId: '', clientSecret: '', issuer: '', ...value }, at, oauthRows)
      : object(value, at),
  authProvider: object,
} satisfies Rows

/** Checks the servers of an app. */
export const mcpServers: Check = (value, at) => {
  if (!isObject(value)) return object(value, at)
  return Object.entries(value).flatMap(([key, server]) => {
    const location = child(at, key)
    const named = serverName(key, location)
    if (named.length > 0) return named
    if (!isObject(server)) return object(server, location)
    if ('url' in server && !('command' in server)) return rowIssues(server, location, endpointRows)
    return rowIssues({ command: '', ...server }, location, processRows)
  })
}

const serverName: Check = (value, at) =>
  must(
    (given) => typeof given === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(given),
    'a name of letters, digits, _ and -',
  )(value, at)

/** Every text in the options that must not be seen. */
export function mcpSecrets(servers: McpServers = {}): readonly string[] {
  return Object.values(servers).flatMap((server) =>
    'url' in server
      ? [...Object.values(server.headers ?? {}), ...(server.oauth ? [server.oauth.clientSecret] : [])]
      : Object.entries(server.env ?? {}).flatMap(([key, value]) =>
          /key|token|secret|password|credential|auth/i.test(key) ? [value] : [],
        ),
  )
}
