/** Parses an agent: under `agents:`, written in place of its name at a step, or with tools that a step adds. */
import { isObject, type Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Approval } from '../../domain/loop/agent-settings.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { snakeKeys } from '../yaml/snake-keys.ts'
import { readCondition } from './parse-condition.ts'
import { parseWorker } from './parse-worker.ts'
import type { Agent, AgentTool } from './pipeline.ts'
import { agentSchema } from './pipeline-schema.ts'
import {
  check,
  checkInside,
  parseModelSettings,
  parseProcessing,
  type Reading,
  snakeProcessing,
} from './reading.ts'

type Data = { readonly [key: string]: Json }

export function parseAgent(reading: Reading, given: Json, at: Pointer): Agent {
  const keyed = snakeKeys(given) as Data
  const processingGiven = isObject(keyed) ? keyed['processing'] : undefined
  const data: Data = {
    ...(isObject(keyed) && keyed),
    ...(processingGiven !== undefined && { processing: snakeProcessing(processingGiven) }),
  }
  const before = reading.issues.length
  check(reading, agentSchema, data as Json, at)
  checkInside(reading, data['output_schema'], `${at}/output_schema`)
  const processing = parseProcessing(reading, data['processing'], `${at}/processing`) ?? { said: {} }
  const prompt = data['system_prompt']
  const modelSettings = parseModelSettings(reading, data['model_settings'], `${at}/model_settings`)
  const loop = reading.issues.length > before ? {} : parseLoop(reading, data, at)
  const file = isObject(prompt) ? (prompt as Data) : undefined
  // A rejected agent gets an open schema, so that its steps are not blamed for missing members.
  const isDamaged = reading.issues.length > before
  const schema = isDamaged ? true : (data['output_schema'] as JsonSchema | undefined)
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
    ...(schema !== undefined && { outputSchema: schema }),
    processing: isDamaged ? { said: {} } : processing,
    ...(modelSettings && !isDamaged && { modelSettings }),
    ...(typeof data['description'] === 'string' && { description: data['description'] }),
    ...(!isDamaged && loop),
    ...(typeof data['timeout'] === 'number' && { timeoutMs: Math.ceil(data['timeout'] * 1_000) }),
    ...(typeof data['max_retries'] === 'number' && { maxRetries: data['max_retries'] }),
  }
}

/** The keys of an agent that calls tools. */
function parseLoop(
  reading: Reading,
  data: Data,
  at: Pointer,
): Pick<Agent, 'tools' | 'handoffs' | 'limits' | 'toolChoice'> {
  const limits = isObject(data['limits']) ? (snakeKeys(data['limits'] as Json) as Record<string, number>) : {}
  const { turns, tokens, cost_usd: costUsd, result_characters: resultCharacters } = limits
  const choice = data['tool_choice'] as Agent['toolChoice']
  return {
    ...(data['tools'] !== undefined && { tools: parseTools(reading, data['tools'], `${at}/tools`) }),
    ...(data['handoffs'] !== undefined && {
      handoffs: parseTools(reading, data['handoffs'], `${at}/handoffs`),
    }),
    ...(data['limits'] !== undefined && {
      limits: {
        ...(turns !== undefined && { turns }),
        ...(tokens !== undefined && { tokens }),
        ...(costUsd !== undefined && { costUsd }),
        ...(resultCharacters !== undefined && { resultCharacters }),
      },
    }),
    ...(choice !== undefined && { toolChoice: choice }),
  }
}

/** A tool is the id of a capability, `agents.NAME`, `http_get`, or a map with one of them under `uses`. */
export function parseTools(reading: Reading, given: Json, at: Pointer): readonly AgentTool[] {
  if (!Array.isArray(given)) return []
  return (given as readonly Json[]).flatMap((each, index): AgentTool[] => {
    const where = `${at}/${index}`
    const said = (isObject(each) ? snakeKeys(each as Json) : { uses: each }) as Data
    const pointer = isObject(each) ? `${where}/uses` : where
    const worker = parseWorker(reading, { uses: said['uses'] as Json }, { agent: pointer, uses: pointer })
    if (worker === undefined) return []
    if (worker.kind === 'import' || (worker.kind === 'builtin' && worker.name !== 'http_get')) {
      reading.issues.push(
        reading.complain(pointer, {
          code: 'pipeline/tool',
          message: `${worker.name} cannot be a tool`,
          hint: 'A tool is the id of a capability, agents.NAME, or http_get',
        }),
      )
      return []
    }
    const { name, description, max_calls: maxCalls, timeout } = said as Record<string, never>
    const approval = readApproval(reading, said['approval'], `${where}/approval`)
    return [
      {
        at: pointer,
        worker,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(approval !== undefined && { approval }),
        ...(maxCalls !== undefined && { maxCalls }),
        ...(timeout !== undefined && { timeoutMs: Math.ceil(timeout * 1_000) }),
      },
    ]
  })
}

function readApproval(reading: Reading, given: Json | undefined, at: Pointer): Approval | undefined {
  if (!isObject(given)) return given as Approval | undefined
  return { when: readCondition(reading, given['when'] as Json, `${at}/when`) }
}

/** Adds an agent that a step defines in place, under a name that no other agent has. */
export function addInlineAgent(reading: Reading, wanted: string, agent: Agent): string {
  const { parsedAgents } = reading
  let name = wanted
  for (let n = 2; parsedAgents.has(name); n++) name = `${wanted}_${n}`
  parsedAgents.set(name, agent)
  return name
}
