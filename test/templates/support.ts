/** What tests of templates share: a model that answers with texts, and a run of a template with it. */
import { expect } from 'vitest'
import { createApp, type Json, type ModelRequest, type Provider, type RunResult } from '../../src/index.ts'
import {
  compileTemplate,
  parseTemplate,
  type TemplateFile,
  templateResult,
} from '../../src/pipeline/index.ts'
import type { TaskResult } from '../seams/domain.ts'

/** What a model writes for a node; it sees what a model sees. */
export type Write = (request: ModelRequest, inputs: { readonly [name: string]: Json }) => string

export interface Ran {
  readonly result: RunResult
  readonly tasks: ReadonlyMap<string, TaskResult>
  /** Of the template as a whole. */
  readonly whole: TaskResult
  /** Models that were called, in order, with the first line of their system prompt. */
  readonly calls: readonly { readonly model: string; readonly system: string; readonly inputs: Json }[]
}

export function template(xml: string): TemplateFile {
  const parsed = parseTemplate(xml, 'test.xml')
  if (!parsed.ok)
    throw new Error(parsed.issues.map(({ message, excerpt }) => `${message}\n${excerpt}`).join('\n'))
  return parsed.file
}

export function compiled(xml: string, inputs: { readonly [name: string]: Json } = {}) {
  const result = compileTemplate(template(xml), inputs)
  if (!result.ok)
    throw new Error(result.issues.map(({ message, excerpt }) => `${message}\n${excerpt}`).join('\n'))
  return result.compiled
}

/** Messages of what is wrong with a template, each with its line. */
export function complaints(xml: string, inputs: { readonly [name: string]: Json } = {}): string[] {
  const parsed = parseTemplate(xml, 'test.xml')
  const issues = parsed.ok ? outcomeOf(parsed.file, inputs) : parsed.issues
  for (const { excerpt, line } of issues) {
    expect(excerpt).toContain('^')
    expect(line).toBeGreaterThan(0)
  }
  return issues.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

function outcomeOf(file: TemplateFile, inputs: { readonly [name: string]: Json }) {
  const result = compileTemplate(file, inputs)
  return result.ok ? [] : result.issues
}

export interface RunTemplateOptions {
  readonly inputs?: { readonly [name: string]: Json }
  readonly write: Write
  /** Limits of the run. */
  readonly constraints?: { readonly [name: string]: Json }
}

export async function runTemplate(
  xml: string,
  { inputs = {}, write, constraints = {} }: RunTemplateOptions,
): Promise<Ran> {
  const { envelope, draft, capabilities } = compiled(xml, inputs)
  const calls: { model: string; system: string; inputs: Json }[] = []
  const provider: Provider = {
    name: '*',
    async generate(request) {
      const given = inputsIn(request.prompt)
      calls.push({ model: request.model, system: request.system.split('\n')[0] ?? '', inputs: given })
      const usage = { inputTokens: 1, outputTokens: 1 }
      return { kind: 'text', text: write(request, given), finish: 'stop', usage }
    },
  }
  const processing = { repair: { enable_llm: false }, fallback: { max_stages: 0 } }
  const app = await createApp({ capabilities, providers: [provider], env: {}, processing })
  try {
    const result = await app.run({ ...envelope, constraints }, { draft })
    const tasks = await app.taskResults(result.runId)
    return { result, tasks, whole: templateResult(result, tasks), calls }
  } finally {
    await app.close()
  }
}

function inputsIn(prompt: string): { [name: string]: Json } {
  const line = prompt.split('\n').find((each) => each.startsWith('Inputs: '))
  return line === undefined ? {} : JSON.parse(line.slice('Inputs: '.length))
}

/** Processor time since the mark: the wall shows what others on the machine do, too. */
export function processorMs(mark: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(mark)
  return (user + system) / 1_000
}
