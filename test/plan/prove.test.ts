/** What `prove` demands of a draft, obligation by obligation, and what it makes of one that is right. */
import { diagnosticTable, type ProveRequest, prove } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import type { Draft, Facet, Json, JsonSchema } from '../../src/index.ts'
import type { Constraint } from '../../src/types.ts'
import {
  capability,
  constraint,
  envelope,
  list,
  listCodes,
  number,
  object,
  type Proof,
  proveWith,
  runProver,
  verdictOn,
} from './support.ts'

const text = { type: 'string' } as const
const writer = capability('writer', { in: object({ objective: text }), out: object({ draft: text }) })
const editor = capability('editor', {
  in: object({ draft: text }),
  out: object({ draft: text, notes: text }),
})
const checker = capability(
  'checker',
  { in: object({ draft: text }), out: object({ score: number(0, 1) }) },
  { nodeKind: 'validation' },
)
const team = [writer, editor, checker]
const wanted = object({ draft: text })

const request = (draft: Draft, more: Partial<ProveRequest> = {}): ProveRequest => ({
  envelope: envelope(wanted),
  draft,
  facets: [],
  capabilities: team,
  version: 1,
  ...more,
})
const node = (id: string, more: object = {}) => ({ id, capabilityId: id, ...more })
const proved = (draft: Draft, more: Partial<ProveRequest> = {}): Proof => runProver(request(draft, more))

describe('a draft of nothing but capabilities', () => {
  const { plan, bundle } = proved({ nodes: [node('writer'), node('editor'), node('checker')] })

  it('is bound by name, with edges where data goes', () => {
    expect(bundle.status).toBe('accepted')
    expect(plan?.edges).toEqual([
      { from: 'writer', to: 'editor', when: 'pass', kind: 'data' },
      { from: 'editor', to: 'checker', when: 'pass', kind: 'data' },
    ])
    expect(plan?.nodes.map(({ inputs }) => inputs)).toEqual([
      { objective: [{ envelope: '/objective' }] },
      { draft: [{ node: 'writer', pointer: '/draft' }] },
      { draft: [{ node: 'editor', pointer: '/draft' }] },
    ])
    expect(plan?.output).toEqual({ properties: { draft: [{ node: 'editor', pointer: '/draft' }] } })
  })

  it('becomes a plan in which everything is decided', () => {
    expect(plan?.nodes[2]).toMatchObject({
      kind: 'validation',
      provides: ['score'],
      enforces: [],
      guards: [],
    })
    expect(plan?.metadata).toMatchObject({ planVersion: 1, planVersionTag: 'v1' })
    expect(Object.isFrozen(plan)).toBe(true)
  })

  it('may be written in any order', () => {
    const shuffled = proved({ nodes: [node('checker'), node('writer')] })
    expect(shuffled.plan?.edges).toEqual([{ from: 'writer', to: 'checker', when: 'pass', kind: 'data' }])
  })
})

it('takes a whole answer from the last node when the caller names no properties', () => {
  const only = capability('only', { out: { type: 'array', items: text } })
  const { plan } = proveWith(envelope({ type: 'array' }), [only])
  expect(plan?.output).toEqual([{ node: 'only' }])
})

it('takes limits from caller, draft and operator; the smallest counts', () => {
  const caller = envelope(wanted, [], {
    constraints: { deadlineMs: 500, maxCalls: 9, threadId: 't', concurrency: 'many' },
    policies: { planner: { optimisation: { maxTokens: 100 } }, runtime: [] },
  })
  const { plan } = proved(
    { nodes: [node('writer')], limits: { maxCalls: 7, maxTokens: 900 } },
    { envelope: caller, limits: { deadlineMs: 400 } },
  )
  expect(plan?.limits).toEqual({ deadlineMs: 400, maxCalls: 7, maxTokens: 100 })
})

describe('shape', () => {
  const cases: [string, Draft, string][] = [
    ['no node', { nodes: [] }, 'plan/empty'],
    ['an id used twice', { nodes: [node('writer'), node('writer')] }, 'plan/node-id'],
    [
      'an unknown capability',
      { nodes: [node('writer'), { id: 'x', capabilityId: 'unregistered' }] },
      'plan/capability-unknown',
    ],
    [
      'an unknown alternate',
      { nodes: [node('writer', { alternates: ['unregistered'] })] },
      'plan/capability-unknown',
    ],
    ['no capability', { nodes: [node('writer'), { id: 'x' }] }, 'plan/capability-absent'],
    ['an unknown kind', { nodes: [node('writer', { kind: 'magic' })] }, 'plan/kind'],
    [
      'an edge to an unknown node',
      { nodes: [node('writer')], edges: [{ from: 'writer', to: 'x' }] },
      'plan/edge',
    ],
    [
      'an edge to itself',
      { nodes: [node('writer')], edges: [{ from: 'writer', to: 'writer' }] },
      'plan/edge',
    ],
    [
      'an edge on a strange outcome',
      {
        nodes: [node('writer'), node('editor')],
        edges: [{ from: 'writer', to: 'editor', when: 'maybe' as 'pass' }],
      },
      'plan/edge',
    ],
    [
      'a binding to an unknown node',
      { nodes: [node('writer', { inputs: { objective: { node: 'x' } } })] },
      'plan/binding',
    ],
    [
      'a binding to itself',
      { nodes: [node('writer', { inputs: { objective: { node: 'writer' } } })] },
      'plan/binding',
    ],
    [
      'a binding into secrets',
      { nodes: [node('writer', { inputs: { objective: { envelope: '/metadata/key' } } })] },
      'plan/binding',
    ],
    [
      'an invalid pointer',
      {
        nodes: [node('writer'), node('editor', { inputs: { draft: { node: 'writer', pointer: 'draft' } } })],
      },
      'plan/binding',
    ],
    ['an answer from an unknown node', { nodes: [node('writer')], output: { node: 'x' } }, 'plan/binding'],
    [
      'an unreadable post-condition',
      { nodes: [node('writer', { postConditions: [{ '===': [1, 1] }] })] },
      'plan/condition',
    ],
    [
      'an unreadable route',
      { nodes: [node('writer'), { id: 'r', routing: { routes: [{ condition: 7, to: 'writer' }] } }] },
      'plan/condition',
    ],
    [
      'a route to an unknown node',
      { nodes: [node('writer'), { id: 'r', routing: { routes: [{ condition: true, to: 'x' }] } }] },
      'plan/edge',
    ],
    [
      'an unusable schema',
      { nodes: [node('writer', { contracts: { output: { type: 'txt' } } })] },
      'plan/schema',
    ],
    ['an unknown facet', { nodes: [node('writer', { facets: { output: ['nope'] } })] }, 'plan/facet-unknown'],
  ]
  it.each(cases)('rejects %s', (_, draft, code) => {
    const proof = proved(draft)
    expect(proof.bundle.status).toBe('rejected')
    expect(listCodes(proof)).toContain(code)
  })

  it('rejects a caller schema that cannot be used', () => {
    const proof = proved({ nodes: [node('writer')] }, { envelope: envelope({ type: 'txt' }) })
    expect(listCodes(proof)).toContain('plan/schema')
  })

  it('rejects what is too large without reading it', () => {
    const nodes = Array.from({ length: 1_001 }, (_, i) => ({ id: `n${i}`, capabilityId: 'writer' }))
    expect(listCodes(proved({ nodes }))).toEqual(['plan/limit'])
  })

  it('rejects a RAO contract that cannot be read', () => {
    const proof = proved({ nodes: [node('writer', { data: { contract: 'maybe' } })] })
    expect(proof.bundle.failures).toMatchObject([
      { nodeId: 'writer', details: { code: 'plan/rao', error: 'InvalidField', field: 'contract' } },
    ])
  })
})

describe('ways through the plan', () => {
  const fast = capability('fast', { out: object({ draft: text }) })
  const slow = capability('slow', { out: object({ draft: text }) })
  const capabilities = [...team, fast, slow]
  const route = (more: object = {}) => ({
    id: 'route',
    routing: {
      routes: [{ condition: { '==': [{ var: 'urgent' }, true] }, to: 'fast' }],
      elseTo: 'slow',
      ...more,
    },
  })
  const given = envelope(wanted, [], { inputs: { urgent: true } })

  it('refuses circles', () => {
    const proof = proved({
      nodes: [node('writer'), node('editor')],
      edges: [
        { from: 'writer', to: 'editor' },
        { from: 'editor', to: 'writer' },
      ],
    })
    expect(proof.bundle.failures[0]).toMatchObject({
      details: { code: 'plan/cycle', nodes: ['writer', 'editor'] },
    })
  })

  it('joins the branches of a route: the answer comes from whichever ran', () => {
    const { plan, bundle } = proved(
      { nodes: [route(), node('fast'), node('slow')] },
      { capabilities, envelope: given },
    )
    expect(bundle.status).toBe('accepted')
    expect(plan?.output).toEqual({
      properties: {
        draft: [
          { node: 'slow', pointer: '/draft' },
          { node: 'fast', pointer: '/draft' },
        ],
      },
    })
    expect(plan?.nodes[0]).toMatchObject({
      kind: 'routing',
      inputs: { urgent: [{ envelope: '/inputs/urgent' }] },
    })
  })

  it('waits for both branches without edges of its own', () => {
    const { plan } = proved(
      { nodes: [route(), node('fast'), node('slow'), node('editor')] },
      { capabilities, envelope: given },
    )
    expect(
      plan?.edges
        .filter(({ to }) => to === 'editor')
        .map(({ from }) => from)
        .sort(),
    ).toEqual(['fast', 'slow'])
  })

  it('misses what one way does not supply, and says which', () => {
    const routing = { routes: [{ condition: { var: 'urgent' }, to: 'fast' }], elseTo: 'checker' }
    const proof = proved(
      {
        nodes: [
          { id: 'route', routing },
          node('fast'),
          node('checker', { inputs: { draft: { value: 'x' } } }),
        ],
      },
      { capabilities, envelope: given },
    )
    expect(proof.bundle.failures).toMatchObject([
      { cause: 'missing_producer', details: { code: 'plan/output-missing', when: 'route takes checker' } },
    ])
  })

  it('misses an answer when no route may be taken', () => {
    const routing = { routes: [{ condition: { var: 'urgent' }, to: ['fast', 'slow'] }] }
    const proof = proved(
      { nodes: [{ id: 'route', routing }, node('fast'), node('slow')] },
      { capabilities, envelope: given },
    )
    expect(proof.bundle.failures).toMatchObject([{ details: { when: 'route takes no route' } }])
  })

  it('refuses to route on something that no node supplies', () => {
    const proof = proved({ nodes: [route(), node('fast'), node('slow')] }, { capabilities })
    expect(proof.bundle.failures).toMatchObject([
      { nodeId: 'route', details: { code: 'plan/input-missing', property: 'urgent' } },
    ])
  })

  it('counts on a fallback where a node may fail', () => {
    const rescue = { id: 'rescue', capabilityId: 'slow', kind: 'fallback' as const }
    const { plan, bundle } = proved({ nodes: [node('fast'), rescue] }, { capabilities })
    expect(bundle.status).toBe('accepted')
    expect(plan?.edges).toEqual([{ from: 'fast', to: 'rescue', when: 'fail', kind: 'control' }])
    expect(plan?.output).toMatchObject({ properties: { draft: [{ node: 'rescue' }, { node: 'fast' }] } })
  })

  it('does not count on a node whose failure is caught', () => {
    const proof = proved(
      {
        nodes: [node('fast'), node('checker', { inputs: { draft: { value: 'x' } } })],
        edges: [{ from: 'fast', to: 'checker', when: 'always' }],
      },
      { capabilities },
    )
    expect(proof.bundle.failures).toMatchObject([
      { details: { code: 'plan/output-missing', when: 'fast fails' } },
    ])
  })

  it('reports nodes that can never run', () => {
    const dead = { id: 'dead', capabilityId: 'slow' }
    const proof = proved(
      {
        nodes: [node('writer'), { id: 'r', routing: { routes: [], elseTo: [] } }, dead],
        edges: [{ from: 'r', to: 'dead' }],
      },
      { capabilities },
    )
    expect(proof.bundle.infos).toMatchObject([
      { nodeId: 'dead', cause: 'advisory', details: { code: 'plan/unreachable' } },
    ])
  })

  it('checks many decisions without checking every combination', () => {
    const nodes = Array.from({ length: 30 }, (_, i) => ({ id: `n${i}`, capabilityId: 'fast' }))
    const rescues = nodes.map(({ id }) => ({ id: `${id}r`, capabilityId: 'slow' }))
    const edges = nodes.map(({ id }) => ({ from: id, to: `${id}r`, when: 'fail' as const }))
    const hard = [constraint('short', { '==': [{ var: 'draft' }, 'x'] })]
    const proof = proved(
      { nodes: [...nodes, ...rescues], edges },
      { capabilities, envelope: envelope(wanted, hard) },
    )
    expect(proof.bundle.status).toBe('rejected')
    expect(proof.all.map(({ cause }) => cause)).toContain('missing_enforcer')
  })

  it('says when two nodes supply the same side by side', () => {
    const proof = proved({ nodes: [node('fast'), node('slow')] }, { capabilities })
    expect(proof.bundle).toMatchObject({
      status: 'accepted_with_findings',
      infos: [{ details: { code: 'plan/ambiguous' } }],
    })
  })
})

describe('supply and fit', () => {
  it('misses a required input', () => {
    const proof = proved({ nodes: [node('editor')] }, { capabilities: team })
    expect(proof.bundle.failures).toMatchObject([
      {
        nodeId: 'editor',
        cause: 'missing_producer',
        suggestion: expect.stringContaining('writer'),
        details: { code: 'plan/input-missing', property: 'draft' },
      },
    ])
  })

  it('does not count on an optional output', () => {
    const lazy = capability('lazy', { out: { type: 'object', properties: { draft: text } } })
    const proof = proved({ nodes: [node('lazy'), node('editor')] }, { capabilities: [...team, lazy] })
    expect(listCodes(proof)).toContain('plan/input-missing')
    expect(proof.bundle.failures[0]?.suggestion).toContain('required')
  })

  it('refuses what does not fit, with a value that shows it', () => {
    const counter = capability('counter', { out: object({ draft: { type: 'integer' } }) })
    const proof = proved({ nodes: [node('counter'), node('editor')] }, { capabilities: [...team, counter] })
    expect(proof.bundle.failures).toMatchObject([
      {
        nodeId: 'editor',
        cause: 'schema_incompatible',
        details: { code: 'plan/input-mismatch', keyword: 'type', witness: expect.any(Number) },
      },
    ])
  })

  it('leaves to run time what it cannot prove', () => {
    const dated = capability('dated', { out: object({ draft: { type: 'string', format: 'uuid' } }) })
    const strict = capability('strict', {
      in: object({ draft: { type: 'string', minLength: 36 } }),
      out: object({ done: text }),
    })
    const proof = proved({ nodes: [node('dated'), node('strict')] }, { capabilities: [dated, strict] })
    expect(proof.bundle).toMatchObject({
      status: 'accepted_with_findings',
      infos: [{ details: { code: 'plan/input-unproven' } }],
    })
  })

  it('checks inputs of the envelope by their value', () => {
    const proof = proved(
      { nodes: [node('editor')] },
      { envelope: envelope(wanted, [], { inputs: { draft: 7 } }) },
    )
    expect(listCodes(proof)).toContain('plan/input-mismatch')
    const right = proved(
      { nodes: [node('editor')] },
      { envelope: envelope(wanted, [], { inputs: { draft: 'x' } }) },
    )
    expect(right.bundle.status).toBe('accepted')
  })

  it('refuses an answer that can never satisfy the caller, and reports one that may not', () => {
    const never = proved(
      { nodes: [node('writer')] },
      { envelope: envelope(object({ draft: { type: 'number' } })) },
    )
    expect(never.bundle.failures).toMatchObject([{ details: { code: 'plan/output-mismatch' } }])
    const perhaps = proved(
      { nodes: [node('writer')] },
      { envelope: envelope(object({ draft: { type: 'string', maxLength: 9 } })) },
    )
    expect(perhaps.bundle).toMatchObject({
      status: 'accepted_with_findings',
      infos: [{ details: { code: 'plan/output-unproven', keyword: 'maxLength' } }],
    })
  })

  it('misses a property of the answer', () => {
    const proof = proved(
      { nodes: [node('writer')] },
      { envelope: envelope(object({ draft: text, notes: text })) },
    )
    expect(proof.bundle.failures).toMatchObject([
      { cause: 'missing_producer', suggestion: expect.stringContaining('editor') },
    ])
  })
})

describe('policies and limits on nodes', () => {
  const withPlanner = (planner: object, draft: Draft = { nodes: [node('writer'), node('editor')] }) =>
    proved(draft, { envelope: envelope(wanted, [], { policies: { planner, runtime: [] } }) })

  it.each<[object, string]>([
    [{ selection: { require: ['checker'] } }, 'plan/policy-require'],
    [{ selection: { require: ['checker'], forbid: ['checker'] } }, 'plan/policy-require'],
    [{ selection: { forbid: ['writer'] } }, 'plan/policy-forbid'],
    [{ topology: { requiredKinds: ['validation'] } }, 'plan/policy-kind'],
    [{ topology: { forbiddenKinds: ['execution'] } }, 'plan/policy-kind'],
    [{ topology: { maxDepth: 1 } }, 'plan/policy-depth'],
  ])('%j is held against the plan', (planner, code) => {
    const proof = withPlanner(planner)
    expect(proof.bundle.status).toBe('rejected')
    expect(listCodes(proof)).toContain(code)
  })

  it('accepts a plan that keeps to them', () => {
    const planner = {
      selection: { require: ['writer'], avoid: ['writer'] },
      topology: { maxDepth: 2, requiredKinds: ['execution'] },
    }
    expect(withPlanner(planner).bundle.status).toBe('accepted')
  })

  it('finds the list of variants by its name, or as the only list', () => {
    const planner = { topology: { variantCount: 3 } }
    for (const name of ['adVariants', 'posts']) {
      const maker = capability('maker', { out: object({ [name]: list(1, 2) }) })
      const proof = proveWith(
        envelope(object({ [name]: list(1, 2) }), [], { policies: { planner, runtime: [] } }),
        [maker],
      )
      expect(proof.bundle.failures).toMatchObject([{ constraint: `${name}.length == 3` }])
    }
    expect(withPlanner(planner).bundle.status).toBe('accepted')
  })

  const constrained = (kind: string, constraints: object, more: object = {}) => {
    const one = capability('one', { out: wanted }, { kind, ...more })
    return proved({ nodes: [node('one', { constraints })] }, { capabilities: [one] })
  }
  it.each<[string, object, object, string | undefined]>([
    ['model', { no_network_access: true }, {}, 'plan/node-network'],
    ['http', { no_network_access: true }, {}, 'plan/node-network'],
    ['local', { no_network_access: true }, {}, undefined],
    ['abacus', { no_network_access: true }, {}, 'plan/node-network-unknown'],
    ['mcp', { no_execution_authority: true }, {}, 'plan/node-authority'],
    ['local', { no_execution_authority: true }, { sideEffect: true }, 'plan/node-authority'],
    ['model', { no_execution_authority: true }, { settings: { tools: ['x'] } }, 'plan/node-authority'],
    ['model', { no_execution_authority: true, no_credential_access: true }, {}, undefined],
  ])('a %s capability under %j %j: %s', (kind, constraints, more, code) => {
    const found = listCodes(constrained(kind, constraints, more)).filter(
      (each) => each !== 'plan/agent-bounds',
    )
    expect(found).toEqual(code === undefined ? [] : [code])
  })

  it('gives a node no more time than its constraint', () => {
    const max_duration_ms = 100
    expect(
      listCodes(proved({ nodes: [node('writer', { timeoutMs: 200, constraints: { max_duration_ms } })] })),
    ).toEqual(['plan/node-duration'])
    const { plan } = proved({ nodes: [node('writer', { constraints: { max_duration_ms } })] })
    expect(plan?.nodes[0]?.timeoutMs).toBe(100)
  })
})

describe('guards of a constraint that depends', () => {
  const short = [constraint('short', { '==': [{ var: 'draft' }, 'x'] })]
  const given = envelope(wanted, short, { inputs: { urgent: true } })
  const fast = capability('fast', { out: object({ draft: text }) })
  const slow = capability('slow', { out: object({ draft: text }) })
  const capabilities = [...team, fast, slow]
  const route = {
    id: 'route',
    routing: { routes: [{ condition: { var: 'urgent' }, to: 'fast' }], elseTo: 'slow' },
  }
  const edges = [
    { from: 'fast', to: 'checkFast' },
    { from: 'slow', to: 'checkSlow' },
  ]
  const check = (id: string) => ({ id, capabilityId: 'checker' })

  it('are validation nodes that read what it checks', () => {
    const { plan } = proved({ nodes: [node('writer'), node('checker')] }, { envelope: given })
    expect(plan?.nodes[1]?.guards).toEqual(short)
  })

  it('do not exist before the last change', () => {
    const late = proved({ nodes: [node('writer'), node('checker'), node('editor')] }, { envelope: given })
    expect(late.all).toMatchObject([{ constraintId: 'short', cause: 'missing_enforcer', nodeId: 'editor' }])
  })

  it('are needed on every way', () => {
    const both = proved(
      { nodes: [route, node('fast'), node('slow'), check('checkFast'), check('checkSlow')], edges },
      { capabilities, envelope: given },
    )
    expect(both.plan?.nodes.filter(({ guards }) => guards.length > 0).map(({ id }) => id)).toEqual([
      'checkFast',
      'checkSlow',
    ])
    const one = proved(
      { nodes: [route, node('fast'), node('slow'), check('checkFast')], edges: edges.slice(0, 1) },
      { capabilities, envelope: given },
    )
    expect(one.all.map(({ cause }) => cause)).toEqual(['missing_enforcer'])
  })
})

describe('facets', () => {
  const facet = (name: string, schema: JsonSchema, propertyKey?: string): Facet => ({
    name,
    title: name,
    description: name,
    schema,
    semantics: { instruction: name },
    metadata: { version: '1', direction: 'bidirectional', ...(propertyKey !== undefined && { propertyKey }) },
  })
  const facets = [facet('writerBrief', text, 'brief'), facet('toneOfVoice', text)]
  const planner = capability('planner', { in: ['toneOfVoice'], out: ['writerBrief'] })
  const given = envelope(object({ writerBrief: text }), [], { inputs: { toneOfVoice: 'calm' } })

  it('are bound by name or key, and say where each property comes from', () => {
    const { plan, bundle } = runProver({
      envelope: given,
      draft: { nodes: [node('planner')] },
      facets,
      capabilities: [planner],
      version: 2,
    })
    expect(bundle.status).toBe('accepted')
    expect(plan?.output).toEqual({ properties: { writerBrief: [{ node: 'planner', pointer: '/brief' }] } })
    expect(plan?.nodes[0]?.facetProvenance).toEqual({
      input: [{ facet: 'toneOfVoice', pointer: '/toneOfVoice' }],
      output: [{ facet: 'writerBrief', pointer: '/brief' }],
    })
  })

  it('beyond those of the capability are reported unless the node is derived', () => {
    const more = { facets: { output: ['writerBrief', 'toneOfVoice'] } }
    const proof = (extra: object) =>
      runProver({
        envelope: given,
        draft: { nodes: [node('planner', { ...more, ...extra })] },
        facets,
        capabilities: [planner],
        version: 1,
      })
    expect(listCodes(proof({}))).toEqual(['plan/facet-derived'])
    expect(proof({ derived: true }).bundle.status).toBe('accepted')
    expect(proof({ derived: true }).plan?.metadata['derived']).toEqual(['planner'])
  })

  it('combine with schemas written by hand', () => {
    const contracts = { output: object({ brief: { type: 'string', maxLength: 9 } }) }
    const { plan } = runProver({
      envelope: given,
      draft: { nodes: [node('planner', { contracts })] },
      facets,
      capabilities: [planner],
      version: 1,
    })
    expect(plan?.nodes[0]?.contracts.output).toMatchObject({
      properties: { brief: { allOf: [text, { maxLength: 9 }] } },
    })
  })
})

describe('fails closed', () => {
  it('takes an exception inside a check for a reason to reject', () => {
    const constraints = {
      get max_duration_ms(): number {
        throw new Error('broken reader')
      },
    }
    const proof = proved({ nodes: [node('writer', { constraints })] })
    expect(proof.bundle.failures).toMatchObject([
      { cause: 'missing_enforcer', details: { code: 'plan/unchecked', message: 'broken reader' } },
    ])
  })

  it('never throws on a draft that is not one', () => {
    for (const draft of [
      null,
      {},
      { nodes: null },
      { nodes: [null] },
      { nodes: [{}] },
      { nodes: [{ id: 3 }] },
      { nodes: [node('writer', { inputs: 7, routing: {} })] },
    ]) {
      expect(prove(request(draft as unknown as Draft)).ok).toBe(false)
    }
  })

  it('says what to read first when an envelope or a capability is passed without parsing', () => {
    const draft = { nodes: [node('writer')] }
    const firstOf = (more: object) => proved(draft, more as Partial<ProveRequest>).bundle.failures[0]
    const raw = { objective: 'x', outputContract: { schema: wanted } }
    expect(firstOf({ envelope: raw })).toMatchObject({
      details: { code: 'plan/unread' },
      suggestion: expect.stringContaining('parseEnvelope'),
    })
    expect(firstOf({ envelope: undefined })).toMatchObject({ details: { code: 'plan/unread' } })
    expect(firstOf({ facets: undefined })).toMatchObject({ details: { code: 'plan/unread' } })
    const wrapped = { capabilities: [{ capability: writer, run: () => ({}) }] }
    expect(firstOf(wrapped)).toMatchObject({ suggestion: expect.stringContaining('its `capability`') })
    expect(firstOf({ capabilities: [{ capabilityId: 'writer' }] })).toMatchObject({
      suggestion: expect.stringContaining('parseCapability'),
    })
  })

  it('never drops a constraint: each is enforced, guarded or reported', () => {
    const expr = { '>=': [{ var: 'score' }, 0.5] }
    const all: Constraint[] = [
      constraint('guarded', expr),
      constraint('proved', { '>=': [{ var: 'score' }, 0] }),
      constraint('soft', { '==': [{ var: 'draft' }, 'x'] }, 'soft'),
      constraint('unmet', { '==': [{ var: 'nowhere' }, 1] }, 'informational'),
      constraint('unreadable', { nope: [1] }),
      constraint('same', expr),
      constraint('same', { '<': [{ var: 'score' }, 2] }),
      { expr, level: 'hard' } as unknown as Constraint,
      constraint('strange', { '<': [{ var: 'score' }, -1] }, 'urgent' as 'hard'),
    ]
    const draft = { nodes: [node('writer'), node('checker')] }
    const proof = proved(draft, { envelope: envelope(wanted, all) })
    const said = new Set(proof.all.map(({ constraintId }) => constraintId))
    expect([...said].sort()).toEqual([
      expect.stringMatching(/^c_[0-9a-f]{12}$/),
      'guarded',
      'same',
      'soft',
      'strange',
      'unmet',
      'unreadable',
    ])
    const good = proved(draft, { envelope: envelope(wanted, all.slice(0, 4)) })
    expect(good.plan?.nodes.flatMap(({ enforces }) => enforces)).toEqual(['proved'])
    expect(good.plan?.nodes[1]?.guards.map(({ constraintId }) => constraintId)).toEqual(['guarded'])
    expect(good.plan?.aside).toEqual({ score: [{ node: 'checker', pointer: '/score' }] })
  })
})

it('has a row for every code', () => {
  for (const [code, row] of Object.entries(diagnosticTable)) {
    expect(code).toMatch(/^plan\/[a-z-]+$/)
    expect(row.sentence.length).toBeGreaterThan(10)
  }
})

it('takes a post-condition at its word, also where sets of values cannot hold what it says', () => {
  const text = { type: 'string' }
  const writer = capability('writer', { out: object({ a: text, b: text }) })
  const differ = { '!=': [{ var: 'a' }, { var: 'b' }] }
  const given = envelope(object({ a: text, b: text }), [constraint('differ', differ)])
  const draft = (postConditions: Json[]) => ({
    nodes: [{ id: 'writer', capabilityId: 'writer', postConditions }],
  })
  const judged = (postConditions: Json[]) =>
    verdictOn(
      runProver({
        envelope: given,
        draft: draft(postConditions),
        facets: [],
        capabilities: [writer],
        version: 1,
      }),
      'differ',
    )
  expect(judged([differ])).toBe('satisfied')
  expect(judged([{ '!=': [{ var: 'a' }, 'x'] }])).toBe('missing_enforcer')
})
