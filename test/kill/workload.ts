/**
 * The plan under test: a fan-out, a delayed retry, a node that fails permanently and its fallback, a model, a person's
 * approval, and a payment that must not be made twice. Its output does not depend on the crashes.
 */

import {
  type Capability,
  type DefinedCapability,
  type Draft,
  defineCapability,
  type Json,
  type Provider,
} from '../../src/index.ts'
import type { DraftNode } from '../../src/types.ts'
import type { Effect } from './effects.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

/** Large budget, because repeated calls after crashes must not exhaust it. */
const callBudget = 1_000

const parts = ['part1', 'part2', 'part3', 'part4']

const node = (id: string, inputs: DraftNode['inputs'], more: Partial<DraftNode> = {}): DraftNode => ({
  id,
  capabilityId: id,
  callBudget,
  ...(inputs && { inputs }),
  ...more,
})

const from = (id: string) => ({ node: id, pointer: '/text' })

export const draft: Draft = {
  nodes: [
    node('read', { text: { envelope: '/inputs/topic' } }),
    node('split', { text: from('read') }),
    ...parts.map((id) =>
      node(id, { text: from('split') }, id === 'part2' ? { retry: { max: 2, backoffMs: 20 } } : {}),
    ),
    node('fragile', { text: from('split') }),
    node('fallback', { text: from('split') }, { kind: 'fallback' }),
    node('summary', Object.fromEntries(parts.map((id) => [id, from(id)]))),
    node('review', { text: from('summary') }, { data: { contract: true } }),
    node('pay', { text: from('review') }),
    node('merge', {
      receipt: from('pay'),
      fallback: [from('fallback'), from('fragile')],
      text: from('review'),
    }),
  ],
  edges: [{ from: 'fragile', to: 'fallback', when: 'fail' }],
  output: { node: 'merge' },
  limits: { maxAsks: 1_000 },
}

/** Nodes that complete in every run; `fragile` fails in every run. */
export const completing = draft.nodes.map(({ id }) => id).filter((id) => id !== 'fragile')

/** Repeated after an unknown outcome only if a person approves. */
export const notTwice = 'pay'

export const envelope = {
  objective: 'Write about tea and pay for it',
  inputs: { topic: 'tea' },
  outputContract: { schema: text },
}

/** The reply of a person who has verified that the payment was made. */
export const paid = { text: 'receipt' }

/** Records the effect of a call before it returns. */
export type Mark = (call: Effect) => void

type Inputs = { readonly [name: string]: Json }

export function capabilities(mark: Mark): DefinedCapability[] {
  const local = (
    capabilityId: string,
    answer: (inputs: Inputs, attempt: number) => Json,
    more: Partial<Capability> = {},
  ) =>
    defineCapability({
      capabilityId,
      inputContract: takes('text'),
      outputContract: text,
      idempotent: true,
      run(inputs, { nodeId, attempt, idempotencyKey: key }) {
        mark({ nodeId, key })
        return answer(inputs as Inputs, attempt)
      },
      ...more,
    })
  return [
    local('read', ({ text }) => ({ text: `about ${text}` })),
    local('split', ({ text }) => ({ text: `${text}, split` })),
    ...parts.map((id) =>
      local(id, (_, attempt) => {
        if (id === 'part2' && attempt === 1) throw new Error('Not the first time')
        return { text: id }
      }),
    ),
    local('fragile', () => {
      throw new Error('Never')
    }),
    local('fallback', () => ({ text: 'plain' })),
    defineCapability({
      capabilityId: 'summary',
      kind: 'model',
      inputContract: takes(...parts),
      outputContract: text,
      idempotent: true,
      preferredModels: ['kill/summary'],
    }),
    local('review', ({ text }) => ({
      primary_output: JSON.stringify({ text: `${text}, seen` }),
      confidence: 0.7,
      confidence_type: 'verbalized',
      escalate: false,
    })),
    local(notTwice, () => paid, { idempotent: false, sideEffect: true }),
    local('merge', ({ receipt, fallback, text }) => ({ text: `${text}; ${fallback}; ${receipt}` }), {
      inputContract: takes('receipt', 'fallback', 'text'),
    }),
  ]
}

/** The model behind `summary`. */
export function model(mark: Mark): Provider {
  return {
    name: 'kill',
    async generate({ idempotencyKey }) {
      // The calls of one attempt are numbered; the journal has the key of the attempt.
      mark({ nodeId: 'summary', key: idempotencyKey.replace(/:\d+$/, '') })
      return { kind: 'text', text: '```json\n{"text": "the four parts"}\n```', finish: 'stop', usage: {} }
    },
  }
}

function takes(...names: string[]) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names }
}
