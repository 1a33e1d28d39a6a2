/** Parses a step of kind `step`: its worker, processing, limits and contract. */
import { isObject, type Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { DraftNode } from '../../domain/plan.ts'
import { isRaoError, readRaoContract } from '../../domain/rao/rao-contract.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { snake } from '../yaml/snake-keys.ts'
import { getBuiltin } from './builtins.ts'
import { common, type Data, type Given, raoKeys } from './given-step.ts'
import { addInlineAgent, parseAgent, parseTools } from './parse-agent.ts'
import { parseWorker } from './parse-worker.ts'
import type { CallStep, Worker } from './pipeline.ts'
import { checkInside, parseModelSettings, parseProcessing, type Reading } from './reading.ts'

export function parseCall(reading: Reading, given: Given): CallStep | undefined {
  const { data, at } = given
  const worker = readWorker(reading, given)
  const said = data['fallback']
  const fallback =
    said === undefined
      ? undefined
      : parseWorker(reading, isObject(said) ? (said as Data) : nameFallback(reading, said), {
          agent: `${at}/fallback/agent`,
          uses: `${at}/fallback`,
          none: `${at}/fallback`,
        })
  const meta = isObject(data['meta']) ? (data['meta'] as Data) : {}
  // Settings of the step override those it may share through its meta.
  const processing =
    parseProcessing(reading, data['processing'], `${at}/processing`) ??
    parseProcessing(reading, meta['processing'], `${at}/meta/processing`)
  const modelSettings = parseModelSettings(reading, data['model_settings'], `${at}/model_settings`)
  checkInside(reading, data['output_schema'], `${at}/output_schema`)
  const node = getNode(data)
  checkContract(reading, given, node)
  if (worker === undefined) return undefined
  reportUnusedKeys(reading, given, worker)
  const fields = data['validate_fields']
  return {
    ...common(given),
    kind: 'step',
    worker,
    params: isObject(data['params']) ? (data['params'] as Data) : {},
    ...(processing && { processing }),
    ...(modelSettings && { modelSettings }),
    ...(data['output_schema'] !== undefined && { outputSchema: data['output_schema'] as JsonSchema }),
    ...(fields === true && { validateFields: true as const }),
    ...(Array.isArray(fields) && { validateFields: fields as string[] }),
    ...(fallback && { fallback }),
    ...(typeof data['max_retries'] === 'number' && { maxRetries: data['max_retries'] }),
    node,
  }
}

/** A fallback that is a single name may be an agent of the file, as under `agent`. */
function nameFallback({ agents }: Reading, said: Json): Data {
  return typeof said === 'string' && agents.has(said) ? { agent: said } : { uses: said }
}

/** The worker of a step: named, or an agent that the step defines in place or gives tools of its own. */
function readWorker(reading: Reading, { data, at, name }: Given): Worker | undefined {
  const pointers = { agent: `${at}/agent`, uses: `${at}/uses`, none: at }
  const given = data['agent']
  const tools = data['tools'] === undefined ? undefined : parseTools(reading, data['tools'], `${at}/tools`)
  if (isObject(given) && data['uses'] === undefined) {
    const agent = parseAgent(reading, given as Json, `${at}/agent`)
    return { kind: 'agent', name: addInlineAgent(reading, name, { ...agent, ...(tools && { tools }) }) }
  }
  const worker = parseWorker(reading, data, pointers)
  const agent = worker?.kind === 'agent' ? reading.parsedAgents.get(worker.name) : undefined
  if (worker?.kind !== 'agent' || !agent || !tools) return worker
  return { kind: 'agent', name: addInlineAgent(reading, `${worker.name}.${name}`, { ...agent, tools }) }
}

/** Reports contract keys that are invalid, or that have no effect because `contract` is missing. */
function checkContract(reading: Reading, { data, at }: Given, node: CallStep['node']): void {
  const [first] = Object.keys(raoKeys).filter((key) => key !== 'contract' && data[key] !== undefined)
  if (first !== undefined && data['contract'] === undefined)
    reading.issues.push(
      reading.complain(`${at}/${first}`, {
        code: 'pipeline/contract',
        key: true,
        message: `${first} has no effect without contract`,
        hint: 'Add contract: true, or contract: false to keep the key and leave it off',
      }),
    )
  const contract = readRaoContract(node.data)
  if (contract === undefined || !isRaoError(contract)) return
  const field = contract.error === 'InvalidField' ? snake(contract.field) : (first ?? 'contract')
  const hint =
    contract.error === 'InvalidField'
      ? `Correct ${field}, or leave it out to have its default`
      : 'Keep this order: suppress_below, review_low, review_high, auto_approve_above'
  reading.issues.push(
    reading.complain(`${at}/${field}`, { code: 'pipeline/contract', message: contract.message, hint }),
  )
}

function getNode(data: Data): CallStep['node'] {
  const usage = (isObject(data['usage_limits']) ? data['usage_limits'] : {}) as Record<
    string,
    number | undefined
  >
  const tokens = usage['total_tokens_limit'] ?? usage['max_tokens']
  const cost = usage['total_cost_usd_limit'] ?? usage['max_cost_usd']
  const rao = Object.entries(raoKeys).flatMap(([from, to]) =>
    data[from] === undefined ? [] : [[to, data[from]] as const],
  )
  return {
    ...(typeof data['timeout'] === 'number' && { timeoutMs: Math.ceil(data['timeout'] * 1_000) }),
    ...(data['on_fail'] !== undefined && { onFail: data['on_fail'] as 'fail' | 'ask' }),
    ...(usage['max_calls'] !== undefined && { callBudget: usage['max_calls'] }),
    ...(tokens !== undefined && { tokenBudget: tokens }),
    ...(cost !== undefined && { costBudgetUsd: cost }),
    ...(isObject(data['constraints']) && {
      constraints: data['constraints'] as NonNullable<DraftNode['constraints']>,
    }),
    ...(rao.length > 0 && { data: Object.fromEntries(rao) }),
  }
}

// * Reports keys of a step that have no effect on its worker, with where they belong. A key that is
// accepted without effect would be relied upon.

/** Hints by key. */
type Remedies = Readonly<Record<string, string>>

const inside = 'Set it on the steps of the imported pipeline'
const ofAnswer = 'Set it on the step of the imported pipeline that answers'

const noTools = 'Tools are for agents: write agent: NAME'

const forImports: Remedies = {
  tools: 'Set it on a step of the imported pipeline whose agent calls them',
  timeout: `${inside}, or limits: { deadline: SECONDS } in this file`,
  max_retries: inside,
  usage_limits: `${inside}, or limits: in this file`,
  model_settings: inside,
  processing: `${inside}; output_schema says what this step must answer`,
  ...Object.fromEntries(Object.keys(raoKeys).map((key) => [key, ofAnswer])),
}

const noModel = 'Remove it: no model is called, and the same input gives the same output'

const forFunctions: Remedies = {
  tools: noTools,
  max_retries: noModel,
  usage_limits: noModel,
  model_settings: noModel,
  processing: `${noModel}; output_schema says what the step must yield`,
  ...Object.fromEntries(
    Object.keys(raoKeys).map((key) => [key, 'Set it on the step whose model answers by the contract']),
  ),
}

function reportUnusedKeys(reading: Reading, { data, at }: Given, worker: Worker): void {
  const remedies = remediesFor(worker)
  const complain = (pointer: Pointer, key: string, hint: string) =>
    reading.issues.push(
      reading.complain(pointer, {
        code: 'pipeline/unread',
        key: true,
        message: `${key} has no effect on ${describe(worker)}`,
        hint,
      }),
    )
  for (const [key, hint] of Object.entries(remedies)) {
    if (key === 'processing') {
      const meta = isObject(data['meta']) ? (data['meta']['processing'] as Json | undefined) : undefined
      for (const part of getKeys(data[key])) complain(`${at}/processing/${part}`, `processing.${part}`, hint)
      for (const part of getKeys(meta)) complain(`${at}/meta/processing/${part}`, `processing.${part}`, hint)
    } else if (data[key] !== undefined) complain(`${at}/${key}`, key, hint)
  }
}

/** All keys but the schema, which applies to every step. */
function getKeys(processing: Json | undefined): string[] {
  return isObject(processing) ? Object.keys(processing).filter((key) => key !== 'schema') : []
}

function remediesFor(worker: Worker): Remedies {
  if (worker.kind === 'import') return forImports
  if (worker.kind === 'agent') return {}
  if (worker.kind === 'capability') return { tools: 'Set `tools` of the capability, or write agent: NAME' }
  const { calls } = getBuiltin(worker.name)
  if (calls === 'model') return { tools: noTools }
  const { max_retries: _, ...forServers } = forFunctions
  return calls === 'server' ? forServers : forFunctions
}

function describe({ kind, name }: Worker): string {
  return `a step that uses ${kind === 'import' ? 'imports.' : ''}${name}`
}
