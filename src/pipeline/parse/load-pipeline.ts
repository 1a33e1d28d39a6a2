/**
 * Loads a pipeline from its file, with the prompt files and pipelines that it references. Reads nothing
 * outside of the root folder.
 */
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { createSource, issueAt, type SourceIssue } from '../text/source.ts'
import { readYaml, tooLarge } from '../yaml/read-yaml.ts'
import { type ParsedPipeline, parsePipeline } from './parse-pipeline.ts'
import type { Agent, Import, Pipeline } from './pipeline.ts'

/** Maximum depth of nested imports. */
const deepestImport = 8
/** Maximum size of a file in bytes. */
const longestPrompt = 256 * 1024

export interface LoadOptions {
  /** The folder that must contain all files. Default: the folder of the file. */
  readonly root?: string
}

export type LoadedPipeline = ParsedPipeline

/** Issues of imports and prompt files have codes that begin with `import/`. */
export async function loadPipeline(file: string, options: LoadOptions = {}): Promise<LoadedPipeline> {
  const root = await realpath(options.root ?? dirname(file)).catch(() =>
    resolve(options.root ?? dirname(file)),
  )
  return load(file, { root, chain: [] })
}

interface Loading {
  readonly root: string
  /** The files that led here through imports, to detect cycles. */
  readonly chain: readonly string[]
}

async function load(file: string, loading: Loading): Promise<LoadedPipeline> {
  const bytes = await readSmall(file)
  if ('issue' in bytes) return { ok: false, issues: [bytes.issue] }
  if ('tooLarge' in bytes) return tooLarge(file, bytes.tooLarge) as LoadedPipeline
  const read = readYaml(bytes.bytes, file)
  if (!read.ok) return read
  const parsed = parsePipeline(read.document)
  return parsed.ok ? fillIn(parsed.pipeline, file, loading) : parsed
}

/** Checks the size before reading. */
async function readSmall(
  file: string,
): Promise<{ bytes: Uint8Array } | { tooLarge: number } | { issue: SourceIssue }> {
  try {
    const about = await stat(file)
    if (!about.isFile()) return { issue: fileIssue(file, 'it is no file') }
    if (about.size > longestPrompt) return { tooLarge: about.size }
    return { bytes: await readFile(file) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { issue: fileIssue(file, code === 'ENOENT' ? 'no such file' : message) }
  }
}

function fileIssue(file: string, why: string): SourceIssue {
  const source = createSource('', file)
  return issueAt(source, {
    code: 'pipeline/file',
    range: [0, 0],
    message: `Cannot read the pipeline: ${why}`,
    hint: 'Pass the path of a pipeline file',
  })
}

async function fillIn(pipeline: Pipeline, file: string, loading: Loading): Promise<LoadedPipeline> {
  const issues: SourceIssue[] = []
  const agents = new Map<string, Agent>()
  for (const [name, agent] of pipeline.agents)
    agents.set(name, await withPrompt(agent, { pipeline, file, loading, issues }))
  const imports = new Map<string, Import>()
  for (const [name, given] of pipeline.imports)
    imports.set(name, await withPipeline(given, { pipeline, file, loading, issues }))
  return issues.length > 0 ? { ok: false, issues } : { ok: true, pipeline: { ...pipeline, agents, imports } }
}

interface Filling {
  readonly pipeline: Pipeline
  readonly file: string
  readonly loading: Loading
  readonly issues: SourceIssue[]
}

async function withPrompt(agent: Agent, filling: Filling): Promise<Agent> {
  const { promptFile } = agent
  if (promptFile === undefined) return agent
  const at = `${agent.at}/system_prompt`
  const path = await pathInside(promptFile.path, `${at}/from_file`, filling)
  if (path === undefined) return agent
  const read = await readSmall(path)
  if (!('bytes' in read)) {
    const message =
      'issue' in read
        ? `${promptFile.path} ${read.issue.message}`
        : `${promptFile.path} has ${read.tooLarge} bytes, more than ${longestPrompt}`
    filling.issues.push(
      filling.pipeline.issue(`${at}/from_file`, {
        code: 'import/prompt',
        message,
        hint: 'Paths begin at the folder of the pipeline',
      }),
    )
    return agent
  }
  const text = new TextDecoder().decode(read.bytes)
  return { ...agent, systemPrompt: filled(text, agent, filling) }
}

/** Fills in `{{ name }}` in a prompt file from its variables; values of the run belong in the input of a step. */
function filled(text: string, agent: Agent, { pipeline, issues }: Filling): string {
  const { variables = {}, path = '' } = agent.promptFile ?? {}
  return text.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value)
    issues.push(
      pipeline.issue(`${agent.at}/system_prompt`, {
        code: 'import/variable',
        message: `variable "${name}" of ${path} not found: it has ${whole}`,
        hint: `Add variables: { ${name}: … }; values of the run go into the input of a step`,
      }),
    )
    return whole
  })
}

async function withPipeline(given: Import, filling: Filling): Promise<Import> {
  const { pipeline, file, loading, issues } = filling
  const path = await pathInside(given.path, given.at, filling)
  if (path === undefined) return given
  const chain = [...loading.chain, resolve(file)]
  const problem = chain.includes(path)
    ? `${given.path} imports itself: ${[...chain, path].map((each) => relative(loading.root, each)).join(' → ')}`
    : chain.length >= deepestImport
      ? `imports go more than ${deepestImport} deep`
      : undefined
  if (problem !== undefined) {
    issues.push(
      pipeline.issue(given.at, {
        code: 'import/circle',
        message: problem,
        hint: 'Take one of the imports out',
      }),
    )
    return given
  }
  const loaded = await load(path, { ...loading, chain })
  if (loaded.ok) return { ...given, pipeline: loaded.pipeline }
  const count = loaded.issues.length === 1 ? 'an issue' : `${loaded.issues.length} issues`
  issues.push(
    pipeline.issue(given.at, {
      code: 'import/failed',
      message: `Cannot import ${given.path}: it has ${count}`,
    }),
    ...loaded.issues,
  )
  return given
}

/** Resolves a path, following links, and rejects it if it is outside of the root folder. */
async function pathInside(
  given: string,
  at: string,
  { pipeline, file, loading, issues }: Filling,
): Promise<string | undefined> {
  const path = resolve(dirname(file), given)
  const real = await realpath(path).catch(() => path)
  const away = relative(loading.root, real)
  if (away !== '..' && !away.startsWith(`..${sep}`) && !isAbsolute(away)) return real
  issues.push(
    pipeline.issue(at, {
      code: 'import/outside',
      message: `${given} is outside of the folder of the pipeline`,
      hint: 'Move the file into the folder of the pipeline, or below it',
    }),
  )
  return undefined
}
