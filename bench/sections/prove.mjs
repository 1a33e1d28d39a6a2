/** What a proof costs: plans of several sizes, each proved again and again as a planner's loop would. */
import { prove } from '../../dist/plan/index.js'
import { race } from '../lib/measure.mjs'
import { ms, table } from '../lib/table.mjs'

export async function proving({ quick }) {
  const rows = []
  for (const [name, request] of Object.entries(requests())) {
    const result = prove(request)
    const { warm } = await race({ warm: () => prove(request) }, { repeats: quick ? 5 : 15 })
    // Schemas that were not compiled before: what the first draft of a new contract pays.
    const fresh = Array.from({ length: quick ? 3 : 7 }, (_, i) => requests(i + 1)[name])
    const times = fresh.map((each) => {
      const start = performance.now()
      prove(each)
      return performance.now() - start
    })
    const first = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]
    rows.push({ name, ok: result.ok, warm, first })
  }
  return { name: 'prove', rows }
}

export function showProving({ rows }) {
  return table(
    ['proof', 'accepted', 'schemas known', 'schemas new'],
    rows.map((row) => [row.name, row.ok ? 'yes' : 'no', ms(row.warm), ms(row.first)]),
  )
}

/** `salt` makes the schemas differ from those of another call. */
function requests(salt = 0) {
  return {
    'writer, review': chain(2, salt),
    '50 constraints × 200 properties': wide(50, 200, salt),
    'chain of 100 nodes': chain(100, salt),
    'chain of 1,000 nodes': chain(1_000, salt),
    '8 routers in a row (256 ways)': routers(8, salt),
  }
}

function wide(constraints, properties, salt) {
  const names = Array.from({ length: properties }, (_, i) => `p${i}`)
  const of = (schema) => object(Object.fromEntries(names.map((name, i) => [name, schema(i)])), salt)
  const expr = (i) => {
    const [a, b] = [{ var: `p${(i * 3) % properties}` }, { var: `p${(i * 7 + 1) % properties}` }]
    const certain = { and: [{ or: [{ '>=': [a, 4] }, { '<': [a, 5] }] }, { '!': { '>': [b, 10] } }] }
    return i % 2 === 0 ? certain : { and: [{ '>=': [a, 1] }, { '<': [a, b] }] }
  }
  return request(
    [
      capability(
        'maker',
        true,
        of(() => ({ type: 'number', minimum: 0, maximum: 10 })),
      ),
    ],
    of(() => ({ type: 'number' })),
    Array.from({ length: constraints }, (_, i) => ({
      constraintId: `c${i}`,
      level: i % 2 === 0 ? 'hard' : 'soft',
      expr: expr(i),
    })),
  )
}

function chain(length, salt) {
  const step = (i) =>
    capability(
      `n${i}`,
      i === 0 ? true : object({ [`v${i - 1}`]: text }, salt),
      object({ [`v${i}`]: text }, salt),
    )
  const capabilities = Array.from({ length }, (_, i) => step(i))
  return request(capabilities, object({ [`v${length - 1}`]: text }, salt), [])
}

function routers(count, salt) {
  const capabilities = []
  const nodes = []
  for (let i = 0; i < count; i++) {
    for (const side of ['a', 'b']) {
      capabilities.push(capability(`${side}${i}`, true, object({ [`v${i}`]: text }, salt)))
      nodes.push({ id: `${side}${i}`, capabilityId: `${side}${i}` })
    }
    const routes = [{ condition: { '==': [{ var: 'go' }, i] }, to: `a${i}` }]
    nodes.push({ id: `r${i}`, routing: { routes, elseTo: `b${i}` } })
  }
  const schema = object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, text])), salt)
  return { ...request(capabilities, schema, []), draft: { nodes } }
}

const text = { type: 'string' }

function object(properties, salt) {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    ...(salt > 0 && { title: `${salt}` }),
  }
}

function capability(capabilityId, inputContract, outputContract) {
  return {
    capabilityId,
    version: '1',
    displayName: capabilityId,
    summary: capabilityId,
    kind: 'scripted',
    nodeKind: 'execution',
    inputContract,
    outputContract,
    idempotent: true,
    sideEffect: false,
    postConditions: [],
  }
}

function request(capabilities, schema, constraints) {
  return {
    envelope: {
      objective: 'measure',
      inputs: { go: 1 },
      constraints: {},
      outputContract: { schema, constraints },
      policies: { planner: {}, runtime: [] },
      specialInstructions: [],
      metadata: {},
    },
    draft: { nodes: capabilities.map(({ capabilityId: id }) => ({ id, capabilityId: id })) },
    facets: [],
    capabilities,
    version: 1,
  }
}
