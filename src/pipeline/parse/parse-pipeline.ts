/** Parses a pipeline file: unknown keys are rejected with the closest known key, and every issue has its line. */

import type { TextRange } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'
import type { Limits } from '../../domain/plan.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { issueAt, type SourceIssue } from '../text/source.ts'
import type { YamlDocument } from '../yaml/read-yaml.ts'
import { snake, snakeKeys } from '../yaml/snake-keys.ts'
import type { YamlEntry, YamlNode } from '../yaml/yaml-tree.ts'
import { parseAgent } from './parse-agent.ts'
import { parseSteps } from './parse-steps.ts'
import type { Complain, Complaint, Import, Pipeline } from './pipeline.ts'
import { fileSchema } from './pipeline-schema.ts'
import { check, checkInside, parseModelSettings, type Reading } from './reading.ts'

export type ParsedPipeline =
  | { readonly ok: true; readonly pipeline: Pipeline }
  | {
      readonly ok: false
      readonly issues: readonly SourceIssue[]
      /** The readable rest of the pipeline, to find further issues; not fit to run. */
      readonly rest?: Pipeline
    }

type Data = { readonly [key: string]: Json }

export function parsePipeline(document: YamlDocument): ParsedPipeline {
  const complain = complainIn(document)
  const issues: SourceIssue[] = []
  const file = snakeKeys(document.value)
  if (!isObject(file)) {
    const said = {
      code: 'pipeline/shape' as const,
      message: 'a pipeline is a map with steps',
      hint: 'Start with steps:',
    }
    return { ok: false, issues: [complain('', said)] }
  }
  const data = file as Data
  const agentsGiven = isObject(data['agents']) ? (data['agents'] as Data) : {}
  const importsGiven = isObject(data['imports']) ? (data['imports'] as Data) : {}
  const reading: Reading = {
    complain,
    issues,
    agents: new Map(Object.entries(agentsGiven)),
    imports: new Map(Object.entries(importsGiven)),
    parsedAgents: new Map(),
  }
  check(reading, fileSchema, data, '')
  const sound = ['input_schema', 'output_schema'].filter((key) => checkInside(reading, data[key], `/${key}`))
  const isSound = (key: string) => data[key] !== undefined && sound.includes(key)
  for (const [name, given] of Object.entries(agentsGiven))
    reading.parsedAgents.set(name, parseAgent(reading, given, child('/agents', name)))
  const imports = Object.entries(importsGiven).flatMap(([name, path]): [string, Import][] =>
    typeof path === 'string' ? [[name, { at: child('/imports', name), path }]] : [],
  )
  const steps = Array.isArray(data['steps']) ? parseSteps(reading, data['steps'], '/steps') : []
  const limits = parseLimits(data['limits'])
  const modelSettings = parseModelSettings(reading, data['model_settings'], '/model_settings')
  const pipeline: Pipeline = {
    name: typeof data['name'] === 'string' ? data['name'] : 'pipeline',
    ...(typeof data['description'] === 'string' && { description: data['description'] }),
    ...(isSound('input_schema') && { inputSchema: data['input_schema'] as JsonSchema }),
    ...(isSound('output_schema') && { outputSchema: data['output_schema'] as JsonSchema }),
    context: isObject(data['context']) ? (data['context'] as Data) : {},
    agents: reading.parsedAgents,
    imports: new Map(imports),
    steps,
    ...(limits && { limits }),
    ...(modelSettings && { modelSettings }),
    issue: complain,
  }
  return issues.length > 0 ? { ok: false, issues: inOrder(issues), rest: pipeline } : { ok: true, pipeline }
}

function parseLimits(given: Json | undefined): Limits | undefined {
  if (!isObject(given)) return undefined
  const { max_tokens, max_calls, max_cost_usd, deadline, concurrency, max_asks } = given as Record<
    string,
    number | undefined
  >
  return {
    ...(max_tokens !== undefined && { maxTokens: max_tokens }),
    ...(max_calls !== undefined && { maxCalls: max_calls }),
    ...(max_cost_usd !== undefined && { maxCostUsd: max_cost_usd }),
    ...(deadline !== undefined && { deadlineMs: Math.ceil(deadline * 1_000) }),
    ...(concurrency !== undefined && { concurrency }),
    ...(max_asks !== undefined && { maxAsks: max_asks }),
  }
}

function inOrder(issues: readonly SourceIssue[]): SourceIssue[] {
  return [...issues].sort((a, b) => a.at.span[0] - b.at.span[0])
}

/**
 * Maps a pointer into the value of a YAML file to a range of its text, so that parser and compiler report
 * located issues.
 */
function complainIn({ source, root }: Pick<YamlDocument, 'source' | 'root'>): Complain {
  return (at, { words, part, key, ...said }) => {
    const { node, entry } = reach(root, at)
    const range = (key ? entry?.keyRange : undefined) ?? node.alias ?? node.range
    return issueAt(source, {
      ...said,
      range: part
        ? narrowedToPart(source.text, range, part)
        : words === undefined
          ? range
          : narrowed(source.text, range, words),
      pointer: at,
    })
  }
}

/** The node at a pointer, or its innermost existing ancestor; keys may be in snake_case or camelCase. */
function reach(root: YamlNode, pointer: Pointer): { node: YamlNode; entry?: YamlEntry; pointer: Pointer } {
  let found: { node: YamlNode; entry?: YamlEntry; pointer: Pointer } = { node: root, pointer: '' }
  for (const token of tokens(pointer)) {
    const { node } = found
    const entry =
      node.kind === 'map'
        ? (node.entries.find(({ key }) => key === token) ??
          node.entries.find(({ key }) => snake(key) === token))
        : undefined
    const inside = entry?.value ?? (node.kind === 'list' ? node.items[Number(token)] : undefined)
    if (inside === undefined) break
    found = { node: inside, ...(entry && { entry }), pointer: child(found.pointer, token) }
  }
  return found
}

/** Narrows a range to a part of its value, if the file has the value literally: without escapes and line breaks. */
function narrowedToPart(
  text: string,
  [start, end]: TextRange,
  { text: value, range }: NonNullable<Complaint['part']>,
): TextRange {
  const at = text.slice(start, end).indexOf(value)
  return at < 0 ? [start, end] : [start + at + range[0], start + at + range[1]]
}

/** Narrows a range to the given words, if the text contains them literally. */
function narrowed(text: string, [start, end]: TextRange, words: string): TextRange {
  const at = text.slice(start, end).indexOf(words)
  return at < 0 ? [start, end] : [start + at, start + at + words.length]
}
