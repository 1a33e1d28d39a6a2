/** A pipeline file as people write it: every key known or refused with what was probably meant, every issue with its line. */
import { isObject, type Json } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import type { Limits } from '../domain/plan.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { complainIn } from './locate.ts'
import { parseSteps } from './parse-steps.ts'
import type { Agent, Import, Pipeline } from './pipeline.ts'
import { agentSchema, fileSchema } from './pipeline-schema.ts'
import type { YamlDocument } from './read-yaml.ts'
import { check, checkInside, parseProcessing, type Reading, snakeProcessing } from './reading.ts'
import { snakeKeys } from './snake-keys.ts'
import type { SourceIssue } from './source.ts'

export type ParsedPipeline =
  | { readonly ok: true; readonly pipeline: Pipeline }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

type Data = { readonly [key: string]: Json }

export function parsePipeline(document: YamlDocument): ParsedPipeline {
  const complain = complainIn(document)
  const issues: SourceIssue[] = []
  const file = snakeKeys(document.value)
  if (!isObject(file)) {
    const said = {
      code: 'pipeline/shape',
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
  }
  check(reading, fileSchema, data, '')
  for (const key of ['input_schema', 'output_schema']) checkInside(reading, data[key], `/${key}`)
  const agents = Object.entries(agentsGiven).map(
    ([name, given]) => [name, parseAgent(reading, given, child('/agents', name))] as const,
  )
  const imports = Object.entries(importsGiven).flatMap(([name, path]): [string, Import][] =>
    typeof path === 'string' ? [[name, { at: child('/imports', name), path }]] : [],
  )
  const steps = Array.isArray(data['steps']) ? parseSteps(reading, data['steps'], '/steps') : []
  if (issues.length > 0) return { ok: false, issues: inOrder(issues) }
  const limits = limitsOf(data['limits'])
  return {
    ok: true,
    pipeline: {
      name: typeof data['name'] === 'string' ? data['name'] : 'pipeline',
      ...(typeof data['description'] === 'string' && { description: data['description'] }),
      ...(data['input_schema'] !== undefined && { inputSchema: data['input_schema'] as JsonSchema }),
      ...(data['output_schema'] !== undefined && { outputSchema: data['output_schema'] as JsonSchema }),
      context: isObject(data['context']) ? (data['context'] as Data) : {},
      agents: new Map(agents),
      imports: new Map(imports),
      steps,
      ...(limits && { limits }),
      issue: complain,
    },
  }
}

function parseAgent(reading: Reading, given: Json, at: Pointer): Agent {
  const keyed = snakeKeys(given) as Data
  const processingGiven = isObject(keyed) ? keyed['processing'] : undefined
  const data: Data = {
    ...(isObject(keyed) && keyed),
    ...(processingGiven !== undefined && { processing: snakeProcessing(processingGiven) }),
  }
  check(reading, agentSchema, data as Json, at)
  checkInside(reading, data['output_schema'], `${at}/output_schema`)
  const processing = parseProcessing(reading, data['processing'], `${at}/processing`) ?? { said: {} }
  const prompt = data['system_prompt']
  const most = isObject(data['model_settings']) ? (data['model_settings'] as Data)['max_tokens'] : undefined
  const said = most === undefined ? processing.said : { max_output_tokens: most, ...processing.said }
  const file = isObject(prompt) ? (prompt as Data) : undefined
  return {
    at,
    ...(typeof data['model'] === 'string' && { model: data['model'] }),
    systemPrompt: typeof prompt === 'string' ? prompt : '',
    ...(typeof file?.['from_file'] === 'string' && {
      promptFile: {
        path: file['from_file'],
        variables: isObject(file['variables']) ? (file['variables'] as Data) : {},
      },
    }),
    ...(data['output_schema'] !== undefined && { outputSchema: data['output_schema'] as JsonSchema }),
    processing: { ...processing, said },
    ...(typeof data['timeout'] === 'number' && { timeoutMs: Math.ceil(data['timeout'] * 1_000) }),
    ...(typeof data['max_retries'] === 'number' && { maxRetries: data['max_retries'] }),
  }
}

function limitsOf(given: Json | undefined): Limits | undefined {
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
