/** Drafts by hand: little to write, and every slip of the pen named at its place. */
import { describe, expect, it } from 'vitest'
import { parseDraft } from './parse-draft.ts'

function refused(given: unknown) {
  const parsed = parseDraft(given)
  if (parsed.ok) throw new Error('was accepted')
  return parsed.issues.map(({ at, hint }) => ({ at: 'pointer' in at && at.pointer, hint }))
}

const write = { id: 'write', capabilityId: 'writer.en' }

describe('a draft', () => {
  it('needs only nodes with an id and a capability', () => {
    const draft = { nodes: [write] }
    expect(parseDraft(draft)).toEqual({ ok: true, value: draft, warnings: [] })
  })

  it('may say everything there is to say', () => {
    const draft = {
      nodes: [
        {
          ...write,
          kind: 'execution',
          label: 'Write',
          derived: false,
          facets: { input: ['writerBrief'], output: ['copyVariants'] },
          contracts: { input: { type: 'object' }, output: true },
          inputs: {
            brief: { envelope: '/inputs/brief' },
            tone: [{ node: 'route', pointer: '/tone' }, { value: null }],
          },
          instructions: 'Be brief',
          postConditions: [{ '>': [{ var: 'copyVariants.length' }, 0] }],
          data: { contract: true, autoApproveAbove: 0.9, reviewHigh: 0.9 },
          constraints: { max_duration_ms: 1000, no_network_access: true },
          retry: { max: 2, backoffMs: 0 },
          alternates: ['writer.fr'],
          onFail: 'ask',
          callBudget: 3,
          timeoutMs: 1000,
          rationale: 'best fit',
          metadata: { a: [1] },
        },
        {
          id: 'route',
          kind: 'routing',
          routing: { routes: [{ condition: { '==': [1, 1] }, to: ['write'], label: 'x' }], elseTo: 'write' },
        },
      ],
      edges: [{ from: 'route', to: 'write', when: 'always' }],
      output: { properties: { copyVariants: { node: 'write', pointer: '/copyVariants' } } },
      limits: { maxTokens: 1, maxCalls: 1, deadlineMs: 1, concurrency: 1, maxAsks: 0, maxReplans: 0 },
      metadata: { provider: 'hand' },
    }
    expect(parseDraft(draft)).toEqual({ ok: true, value: draft, warnings: [] })
  })

  it('may bind the whole answer to one source or to the first that exists', () => {
    for (const output of [{ node: 'write' }, [{ node: 'write' }, { value: [] }]]) {
      expect(parseDraft({ nodes: [write], output }).ok).toBe(true)
    }
  })
})

describe('mistakes in a draft', () => {
  it('an id with half of a surrogate pair is refused at its location: no header of a call could contain it', () => {
    const nodes = [
      write,
      { ...write, id: 'a\ud800' },
      { ...write, id: '\udc00' },
      { ...write, id: 'tea \u{1F375}' },
    ]
    expect(refused({ nodes })).toEqual([
      { at: '/nodes/1/id', hint: 'Give the node an id of whole characters' },
      { at: '/nodes/2/id', hint: 'Give the node an id of whole characters' },
    ])
    expect(JSON.stringify(parseDraft({ nodes }))).toContain('\\\\ud800')
  })

  it.each<[what: string, given: object, at: string, hint: string]>([
    [
      'a misspelt key',
      { nodes: [{ ...write, instuctions: 'x' }] },
      '/nodes/0/instuctions',
      'Did you mean "instructions"?',
    ],
    [
      'a key of another spelling',
      { nodes: [{ id: 'a', capability_id: 'b' }] },
      '/nodes/0/capability_id',
      'Did you mean "capabilityId"?',
    ],
    [
      'a misspelt source',
      { nodes: [{ ...write, inputs: { a: { nod: 'x' } } }] },
      '/nodes/0/inputs/a/nod',
      'Did you mean "node"?',
    ],
    [
      'a misspelt edge',
      { nodes: [write], edges: [{ form: 'a', to: 'b' }] },
      '/edges/0/form',
      'Did you mean "from"?',
    ],
    [
      'a misspelt kind',
      { nodes: [{ ...write, kind: 'executions' }] },
      '/nodes/0/kind',
      'Did you mean "execution"?',
    ],
    [
      'an unknown key',
      { nodes: [{ ...write, colour: 'red' }] },
      '/nodes/0/colour',
      'Remove it, or put it into metadata',
    ],
    [
      'no capability',
      { nodes: [{ id: 'a' }] },
      '/nodes/0',
      'Give it a capabilityId, a routing, or a map or loop with a body',
    ],
    ['an id used twice', { nodes: [write, write] }, '/nodes/1/id', 'Remove or rename one'],
  ])('have a hint: %s', (_, given, at, hint) => {
    expect(refused(given)).toContainEqual({ at, hint })
  })

  it.each<[given: unknown, at: string]>([
    [{ nodes: [] }, '/nodes'],
    [{}, '/nodes'],
    [{ nodes: [{ ...write, inputs: { a: {} } }] }, '/nodes/0/inputs/a'],
    [{ nodes: [{ ...write, inputs: { a: { node: 'x', value: 1 } } }] }, '/nodes/0/inputs/a'],
    [{ nodes: [{ ...write, inputs: { a: [] } }] }, '/nodes/0/inputs/a'],
    [{ nodes: [{ ...write, contracts: { output: { type: 'x' } } }] }, '/nodes/0/contracts/output/type'],
    [{ nodes: [{ ...write, data: { contract: true, reviewLow: 2 } }] }, '/nodes/0/data/reviewLow'],
    [{ nodes: [{ ...write, data: { contract: true, suppressBelow: 1 } }] }, '/nodes/0/data'],
    [{ nodes: [{ ...write, postConditions: [{}] }] }, '/nodes/0/postConditions/0'],
    [
      { nodes: [{ id: 'r', routing: { routes: [{ condition: {}, to: 'x' }] } }] },
      '/nodes/0/routing/routes/0/condition',
    ],
    [{ nodes: [write], limits: { maxTokens: 0 } }, '/limits/maxTokens'],
    [null, ''],
  ])('are located: %j', (given, at) => {
    expect(refused(given).map((issue) => issue.at)).toContain(at)
  })
})
