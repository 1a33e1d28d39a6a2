/**
 * Resolves the effective configuration and the origin of each value: flags override the environment, which
 * overrides `proviso.toml`, which overrides defaults.
 */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Json } from '../../base/json.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { didYouMean } from '../parse/reading.ts'
import { createSource, issueAt, type SourceIssue } from '../text/source.ts'
import { type ArosConfig, type ArosKey, arosConfig, arosTable, presets } from './aros-config.ts'
import { type McpSettings, type MissingVariable, readMcpSettings } from './mcp-settings.ts'
import { type ConfigFile, readConfig } from './read-config.ts'
import {
  explainSetting,
  type ServerKey,
  type ServerSettings,
  serverKeys,
  serverSettings,
  serverTable,
} from './server-settings.ts'

export interface ConfigRequest {
  /** Directory where the upward search for `proviso.toml` starts. */
  readonly cwd: string
  /** Path from `--config`, used instead of the search. */
  readonly file?: string
  /** The environment variables, passed by the caller. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** `KEY=VALUE` flags, with or without `aros.` before the key. */
  readonly set?: readonly string[]
  /** Command-line flags for server settings, by dotted key. */
  readonly flags?: readonly SettingFlag[]
}

export interface SettingFlag {
  readonly key: ServerKey
  /** As written on the command line: `--planner`. */
  readonly flag: string
  readonly text: string
}

/** One setting: its effective value and origin. */
export interface Setting {
  readonly key: string
  readonly value: Json
  /** `default`, `preset "safe"`, `proviso.toml:3`, `$PROVISO_…` or `--set`. */
  readonly from: string
  readonly what: string
}

export interface Config {
  readonly aros: ArosConfig
  readonly serve: ServerSettings
  readonly settings: readonly Setting[]
  /** The file that was read. */
  readonly file?: string
  /** Modules with capabilities, as absolute paths. */
  readonly use: readonly string[]
  /** MCP servers by name. */
  readonly mcp: { readonly [name: string]: McpSettings }
  readonly profiles: ConfigFile['profiles']
  readonly profile?: string
}

export type ResolvedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

const fileName = 'proviso.toml'
const longest = 64 * 1024

export async function resolveConfig(request: ConfigRequest): Promise<ResolvedConfig> {
  const { cwd, env = {}, set = [] } = request
  const said = request.file ?? (env['PROVISO_CONFIG'] || undefined)
  const path = said === undefined ? await findUpward(cwd) : resolve(cwd, said)
  const read = path === undefined ? undefined : await readConfigFile(path)
  if (read && !read.ok) return read
  const layers = [fromFile(read?.file), fromEnv(env), fromFlags(set), fromNamedFlags(request.flags ?? [])]
  const mcp = readMcpSettings(read?.file.mcp, env)
  const issues = [
    ...layers.flatMap((layer) => layer.issues),
    ...mcp.missing.map((each) => missingVariable(read?.file, each)),
  ]
  if (issues.length > 0) return { ok: false, issues }
  const given = new Map(layers.flatMap((layer) => [...layer.values]))
  const preset = given.get('preset')
  for (const [key, value] of Object.entries(presets[preset?.value as keyof typeof presets] ?? {}))
    if (!given.has(key))
      given.set(key, { value, from: `preset ${JSON.stringify(preset?.value)} (${preset?.from})` })
  const values: Partial<Record<ArosKey, Json>> = {}
  for (const key of keys) if (given.has(key)) values[key] = given.get(key)?.value as Json
  const serve: Partial<Record<ServerKey, Json>> = {}
  for (const key of serverKeys) if (given.has(key)) serve[key] = given.get(key)?.value as Json
  const use = read?.file.values.get('catalog.use')?.value
  const profile = read?.file.values.get('validation.profile')?.value
  return {
    ok: true,
    config: {
      aros: arosConfig(values),
      serve: serverSettings(serve),
      settings: [...getSettings(given), ...ofFileAlone(read?.file)],
      ...(path !== undefined && { file: path }),
      use:
        Array.isArray(use) && path !== undefined
          ? use.map((each) => resolve(dirname(path), String(each)))
          : [],
      mcp: mcp.servers,
      profiles: read?.file.profiles ?? {},
      ...(typeof profile === 'string' && { profile }),
    },
  }
}

const keys = Object.keys(arosTable) as ArosKey[]

type Given = ReadonlyMap<string, { readonly value: Json; readonly from: string }>

function getSettings(given: Given): Setting[] {
  const preset = given.get('preset')
  return [
    {
      key: 'preset',
      value: preset?.value ?? null,
      from: preset?.from ?? 'default',
      what: 'a set of settings by name',
    },
    ...keys.map((key) => {
      const { otherwise, what } = arosTable[key]
      return {
        key: `aros.${key}`,
        value: given.get(key)?.value ?? otherwise,
        from: given.get(key)?.from ?? 'default',
        what,
      }
    }),
    ...serverKeys.map((key) => {
      const { otherwise, what } = serverTable[key]
      const { value, from } = given.get(key) ?? { value: otherwise as Json, from: 'default' }
      return { key, value, from, what }
    }),
  ]
}

/** Settings that only the file can set. */
function ofFileAlone(file: ConfigFile | undefined): Setting[] {
  const said = {
    'catalog.use': 'modules with capabilities of your own',
    'validation.profile': 'how severe the rules of validate are, by name',
  }
  const ofFile = Object.entries(said).map(([key, what]) => {
    const found = file?.values.get(key)
    const from = found === undefined ? 'default' : `${file?.source.name}:${found.line}`
    return { key, value: found?.value ?? null, from, what }
  })
  return [...ofFile, ...mcpSettings(file)]
}

/** Where each MCP server is; its other options may hold secrets. */
function mcpSettings(file: ConfigFile | undefined): Setting[] {
  return [...(file?.values ?? [])].flatMap(([key, { value, line }]) =>
    /^mcp\.[^.]+\.(command|url)$/.test(key)
      ? [{ key, value, from: `${file?.source.name}:${line}`, what: 'an MCP server' }]
      : [],
  )
}

/** An MCP server would be started without its key. */
function missingVariable(file: ConfigFile | undefined, { key, variable }: MissingVariable): SourceIssue {
  const line = file?.values.get(key)?.line ?? 1
  const source = file?.source ?? createSource('', fileName)
  const start = source.lineStarts[line - 1] ?? 0
  return issueAt(source, {
    code: 'config/value',
    range: [start, start + 1],
    message: `${key}: the environment variable ${variable} is not set`,
    hint: `Set ${variable}, or write the value itself`,
  })
}

async function findUpward(from: string): Promise<string | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, fileName)
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile()) return path
    if (dirname(folder) === folder) return undefined
  }
}

async function readConfigFile(path: string) {
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  const why = about instanceof Error ? 'no such file' : about.isFile() ? undefined : 'it is not a file'
  const tooLong =
    !(about instanceof Error) && about.size > longest ? `it has more than ${longest} bytes` : undefined
  const problem = why ?? tooLong
  if (problem === undefined) return readConfig(await readFile(path, 'utf8'), path)
  const issue = issueAt(createSource('', path), {
    code: 'config/file',
    range: [0, 0],
    message: `Cannot read the settings: ${problem}`,
    hint: 'Check --config and PROVISO_CONFIG',
  })
  return { ok: false as const, issues: [issue] }
}

interface Layer {
  readonly values: ReadonlyMap<string, { readonly value: Json; readonly from: string }>
  readonly issues: readonly SourceIssue[]
}

function fromFile(file: ConfigFile | undefined): Layer {
  const values = new Map<string, { value: Json; from: string }>()
  for (const [name, { value, line }] of file?.values ?? []) {
    const key = name.replace(/^aros\./, '')
    if (toRow(key) !== undefined) values.set(key, { value, from: `${file?.source.name}:${line}` })
  }
  return { values, issues: [] }
}

/** Maps `aros.repair.max_attempts` to `PROVISO_AROS_REPAIR_MAX_ATTEMPTS`. */
export function envName(key: ArosKey): string {
  return `PROVISO_AROS_${key.replaceAll('.', '_').toUpperCase()}`
}

function fromEnv(env: NonNullable<ConfigRequest['env']>): Layer {
  const pairs: readonly (readonly [string, string])[] = [
    ['preset', 'PROVISO_PRESET'],
    ...keys.map((key) => [key, envName(key)] as const),
    ...serverKeys.flatMap((key) => serverTable[key].env.map((name) => [key, name] as const)),
  ]
  const { values, issues } = collect(
    pairs.flatMap(([key, name]) => {
      const text = env[name]
      return text === undefined || text === '' ? [] : [{ key, text, from: `$${name}` }]
    }),
  )
  return { values, issues: [...issues, ...misspelled(env)] }
}

/** Rejects unknown variables, like unknown keys of the file. */
function misspelled(env: NonNullable<ConfigRequest['env']>): SourceIssue[] {
  const known = keys.map(envName)
  return Object.keys(env)
    .filter((name) => name.startsWith('PROVISO_AROS_') && env[name] !== '' && !known.includes(name))
    .map((name) =>
      issueAt(createSource(name, `$${name}`), {
        code: 'config/value',
        range: [0, name.length],
        message: 'no setting has this name',
        hint: didYouMean(name, known, `Remove it, or use one of ${known.join(', ')}`),
      }),
    )
}

function fromFlags(set: readonly string[]): Layer {
  return collect(
    set.map((pair) => {
      const [name = '', ...rest] = pair.split('=')
      return { key: name.trim().replace(/^aros\./, ''), text: rest.join('=').trim(), from: `--set ${pair}` }
    }),
  )
}

function fromNamedFlags(flags: readonly SettingFlag[]): Layer {
  return collect(flags.map(({ key, flag, text }) => ({ key, text, from: flag })))
}

/** The schema of a setting by key; `undefined` if there is no such setting. */
function toRow(key: string): JsonSchema | undefined {
  if (key === 'preset') return { enum: Object.keys(presets) }
  if (Object.hasOwn(arosTable, key)) return arosTable[key as ArosKey].schema
  return Object.hasOwn(serverTable, key) ? serverTable[key as ServerKey].schema : undefined
}

/** Parses texts from flags and variables to the type of the setting and validates them against its schema. */
function collect(
  given: readonly { readonly key: string; readonly text: string; readonly from: string }[],
): Layer {
  const values = new Map<string, { value: Json; from: string }>()
  const issues: SourceIssue[] = []
  for (const { key, text, from } of given) {
    const schema = toRow(key)
    const value = valueOfText(text, schema)
    const complaint =
      schema === undefined
        ? {
            message: `unknown setting ${key}`,
            hint: didYouMean(
              key,
              [...keys, ...serverKeys],
              `Use one of ${[...keys, ...serverKeys].join(', ')}`,
            ),
          }
        : compileSchema(schema).validate(value)[0]
    if (complaint === undefined) {
      values.set(key, { value, from: from.startsWith('--set') ? '--set' : from })
      continue
    }
    const source = createSource(`${key} = ${text}`, from)
    const { hint } = complaint
    const message = 'code' in complaint ? explainSetting(key, complaint) : complaint.message
    issues.push(
      issueAt(source, {
        code: 'config/value',
        range: [0, source.text.length],
        message: `${key}: ${message}`,
        ...(hint !== undefined && { hint }),
      }),
    )
  }
  return { values, issues }
}

function valueOfText(text: string, schema?: JsonSchema): Json {
  const type = typeof schema === 'object' ? schema['type'] : undefined
  if (type === 'array') return text.split(',').map((part) => part.trim())
  if (type === 'string') return text
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
