/**
 * Collects the capabilities that a pipeline provides: its agents and those of its imports, human-in-the-loop
 * asks, and the functions of generated nodes.
 */
import { sha256Hex } from '../../base/canonical.ts'
import type { Capability } from '../../domain/capability.ts'
import type { CallStep, Pipeline, Step } from '../parse/pipeline.ts'
import { type PipelineCapability, pipelineFunctions } from './functions.ts'

export function agentId({ name }: Pick<Pipeline, 'name'>, agent: string): string {
  return idOf(`${name}/agents.${agent}`)
}

export function hitlId({ name }: Pick<Pipeline, 'name'>): string {
  return idOf(`${name}/hitl`)
}

export function extractId({ name }: Pick<Pipeline, 'name'>, { params }: Pick<CallStep, 'params'>): string {
  return idOf(`${name}/extract_from_text${typeof params['model'] === 'string' ? `/${params['model']}` : ''}`)
}

const longestId = 200

/**
 * Encodes a name as a capability id: names may use any script and length, ids only few characters and a
 * bounded length.
 */
function idOf(words: string): string {
  const plain = words.replace(/[^A-Za-z0-9_.:/-]/gu, (sign) => `:${sign.codePointAt(0)?.toString(16)}:`)
  const id = /^[A-Za-z0-9]/.test(plain) ? plain : `pipeline:${plain}`
  return id.length <= longestId ? id : `${id.slice(0, 120)}:${sha256Hex(words)}`
}

/** The imported pipeline under its qualified name. */
export function importedAs({ name }: Pick<Pipeline, 'name'>, alias: string, imported: Pipeline): Pipeline {
  return { ...imported, name: `${name}/${alias}` }
}

/** All capabilities of a pipeline. They do not depend on the input, so a run can be resumed from the file alone. */
export function capabilitiesOf(pipeline: Pipeline): readonly PipelineCapability[] {
  return [...pipelineFunctions, ...ownOf(pipeline)]
}

function ownOf(pipeline: Pipeline): readonly PipelineCapability[] {
  const found = new Map<string, Capability>()
  const add = (capability: Capability) => found.set(capability.capabilityId, capability)
  for (const [name, agent] of pipeline.agents)
    add(modelCapability(agentId(pipeline, name), agent.systemPrompt, agent.model))
  for (const step of allSteps(pipeline.steps)) {
    if (step.kind === 'hitl') add(humanCapability(hitlId(pipeline)))
    if (step.kind !== 'step' || step.worker.kind !== 'builtin' || step.worker.name !== 'extract_from_text')
      continue
    const { model } = step.params
    add(modelCapability(extractId(pipeline, step), extracting, typeof model === 'string' ? model : undefined))
  }
  const imported = [...pipeline.imports].flatMap(([alias, { pipeline: inner }]) =>
    inner ? ownOf(importedAs(pipeline, alias, inner)) : [],
  )
  return [...[...found.values()].map((capability) => ({ capability })), ...imported]
}

const extracting = 'You extract structured data from a text. Use only what the text says.'

/** All steps, including nested ones. */
function allSteps(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) => {
    const inside = 'branches' in step ? [...step.branches.values()].flat() : 'body' in step ? step.body : []
    return [step, ...allSteps(inside)]
  })
}

const common = {
  version: '1',
  nodeKind: 'execution',
  inputContract: { type: 'object' },
  outputContract: {},
  sideEffect: false,
  postConditions: [],
} as const

function modelCapability(capabilityId: string, instructions: string, model: string | undefined): Capability {
  return {
    ...common,
    capabilityId,
    displayName: capabilityId,
    summary: '',
    kind: 'model',
    idempotent: true,
    ...(model !== undefined && { preferredModels: [model] }),
    settings: { instructions },
  }
}

function humanCapability(capabilityId: string): Capability {
  return {
    ...common,
    capabilityId,
    displayName: 'A person',
    summary: 'Asks a person and returns the answer.',
    kind: 'human',
    idempotent: false,
  }
}
