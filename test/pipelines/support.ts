/** Pipelines run by the ordinary engine, with models that answer by a function of what they are asked. */
import { expect } from 'vitest'
import {
  type App,
  createApp,
  type DefinedCapability,
  defineCapability,
  type Json,
  type ModelRequest,
  type Provider,
} from '../../src/index.ts'
import type { CustomStage } from '../../src/output/index.ts'
import {
  type ArosConfig,
  arosConfig,
  type CompiledPipeline,
  compilePipeline,
  describeSourceIssue,
  lint,
  type Pipeline,
  parsePipeline,
  readYaml,
  type SourceIssue,
} from '../../src/pipeline/index.ts'

export type Answers = (request: ModelRequest) => string

export function scripted(answer: Answers, seen: ModelRequest[] = []): Provider {
  return {
    name: '*',
    async generate(request) {
      seen.push(request)
      const structured =
        request.structured === undefined || request.structured === 'off'
          ? {}
          : { structured: { kind: 'applied', as: 'json_schema', weakened: 0 } as const }
      return { kind: 'text', text: answer(request), finish: 'stop', usage: {}, ...structured }
    },
  }
}

export function readPipeline(text: string): Pipeline {
  const read = readYaml(text, 'p.yaml')
  const parsed = read.ok ? parsePipeline(read.document) : read
  if (!parsed.ok) throw new Error(parsed.issues.map(describeSourceIssue).join('\n'))
  return parsed.pipeline
}

export interface Given {
  readonly input?: Json
  readonly aros?: ArosConfig
  readonly own?: readonly DefinedCapability[]
  readonly stages?: readonly CustomStage[]
}

export function compile(
  text: string | Pipeline,
  { input = null, aros = arosConfig(), own = [], stages = [] }: Given = {},
): CompiledPipeline {
  const pipeline = typeof text === 'string' ? readPipeline(text) : text
  const result = compilePipeline(pipeline, {
    input,
    aros,
    capabilities: own.map(({ capability }) => capability),
    stages: stages.map(({ name }) => name),
  })
  if (!result.ok) throw new Error(result.issues.map(describeSourceIssue).join('\n'))
  if (typeof text === 'string') expectNoAlarm(text)
  return result.compiled
}

/** What can be compiled is no error to the linter: every pipeline of these tests tries its rules, too. */
function expectNoAlarm(text: string): void {
  const read = readYaml(text, 'p.yaml')
  const issues = read.ok ? lint(read.document).issues : read.issues
  expect(issues.filter((issue) => !('severity' in issue) || issue.severity === 'error')).toEqual([])
}

/** Why a text is no pipeline that can run, wherever that is found. */
export function problems(text: string, given: Given = {}): readonly SourceIssue[] {
  const read = readYaml(text, 'p.yaml')
  const parsed = read.ok ? parsePipeline(read.document) : read
  if (!parsed.ok) return parsed.issues
  const result = compilePipeline(parsed.pipeline, {
    input: given.input ?? null,
    capabilities: (given.own ?? []).map(({ capability }) => capability),
    stages: (given.stages ?? []).map(({ name }) => name),
  })
  return result.ok ? [] : result.issues
}

export interface Ran {
  readonly status: string
  readonly output?: Json
  readonly issues: readonly { readonly message: string }[]
  readonly failure?: string
  readonly seen: readonly ModelRequest[]
  readonly logs: readonly string[]
  /** Nodes that were started, in order. */
  readonly started: readonly string[]
  readonly app: App
  readonly runId: string
}

export async function run(
  text: string | Pipeline,
  answer: Answers = () => 'ok',
  given: Given = {},
): Promise<Ran> {
  const compiled = compile(text, given)
  const seen: ModelRequest[] = []
  const own = given.own ?? []
  const app = await createApp({
    env: {},
    providers: [scripted(answer, seen)],
    stages: given.stages ?? [],
    capabilities: [...compiled.capabilities.map((each) => ({ ...each })), ...own] as DefinedCapability[],
  })
  const result = await app.run(compiled.envelope, { draft: compiled.draft })
  const events = await app.store.read(result.runId, 0)
  expect(events.length).toBeGreaterThan(0)
  await app.close()
  return {
    ...result,
    seen,
    logs: events.flatMap((event) => (event.type === 'log' ? [event.payload.event] : [])),
    started: events.flatMap((event) => (event.type === 'node_start' ? [event.nodeId ?? ''] : [])),
    app,
  }
}

/** The `input` that a step's model was shown. */
export function readInput({ prompt }: ModelRequest): Json {
  const line = prompt.split('\n').find((each) => each.startsWith('Inputs: ')) ?? 'Inputs: null'
  return (JSON.parse(line.slice(8)) as { input: Json }).input
}

export { defineCapability }
