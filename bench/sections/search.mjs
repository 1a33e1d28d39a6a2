/** What it costs to find a plan: catalogs of several sizes, the proof included. */
import { search, withBuiltins } from '../../dist/plan/index.js'
import { race } from '../lib/measure.mjs'
import { ms, table } from '../lib/table.mjs'

export async function searching({ quick }) {
  const rows = []
  for (const [name, request] of Object.entries(requests())) {
    const start = performance.now()
    const result = search(request)
    const first = performance.now() - start
    const { warm } = await race({ warm: () => search(request) }, { repeats: quick ? 5 : 15 })
    rows.push({ name, ok: result.proof.ok, nodes: result.draft.nodes.length, warm, first })
  }
  return { name: 'search', rows }
}

export function showSearching({ rows }) {
  return table(
    ['search', 'proved', 'nodes', 'catalog known', 'catalog new'],
    rows.map((row) => [row.name, row.ok ? 'yes' : 'no', String(row.nodes), ms(row.warm), ms(row.first)]),
  )
}

function requests() {
  return {
    'empty catalog': searchSpace({ facets: 10, capabilities: 0, length: 1 }),
    '10 capabilities, 20 facets': searchSpace({ facets: 20, capabilities: 10, length: 4 }),
    '100 capabilities, 50 facets': searchSpace({ facets: 50, capabilities: 100, length: 8 }),
    '1,000 capabilities, 200 facets': searchSpace({ facets: 200, capabilities: 1_000, length: 12 }),
  }
}

/** A chain of `length` capabilities leads from the inputs to the answer; all the others lead there too, at a higher price. */
function searchSpace({ facets: count, capabilities: many, length }) {
  const facets = Array.from({ length: count }, (_, i) => ({
    name: `f${i}`,
    title: `F${i}`,
    description: `Facet ${i}.`,
    schema: {
      type: 'object',
      properties: { text: { type: 'string' }, size: { type: 'integer', minimum: i } },
      required: ['text'],
    },
    semantics: { instruction: `Mind f${i}.` },
    metadata: { version: '1', direction: 'bidirectional' },
  }))
  const capability = (i, input, output, tier) => ({
    capabilityId: `agent${i % 50}.c${i}`,
    version: '1',
    displayName: `Capability ${i}`,
    summary: `Makes ${output.join(' and ')}`,
    kind: 'scripted',
    nodeKind: 'execution',
    inputContract: input,
    outputContract: output,
    idempotent: true,
    sideEffect: false,
    postConditions: [],
    cost: { tier, estimatedTokens: 100 + (i % 7) * 100 },
    inputTraits: { languages: ['en'], formats: [`format_${i % 5}`] },
  })
  const chain = Array.from({ length: Math.min(length, many) }, (_, i) =>
    capability(i, [`f${i}`], [`f${i + 1}`], 'free'),
  )
  const others = Array.from({ length: many - chain.length }, (_, i) => {
    const at = (i * 7) % count
    const inputs = [`f${(at * 3 + 1) % count}`, `f${(at * 5 + 2) % count}`, `f${(at + i) % count}`]
    return capability(i + length, [...new Set(inputs)], [`f${at}`], 'premium')
  })
  const goal = `f${many === 0 ? 1 : length}`
  return {
    envelope: {
      objective: 'Measure the search for format 1',
      inputs: { f0: { text: 'x', size: 1 } },
      constraints: {},
      outputContract: {
        schema: { type: 'object', properties: { [goal]: { type: 'object' } }, required: [goal] },
        constraints: [
          { constraintId: 'long', level: 'hard', expr: { '>=': [{ var: `${goal}.size` }, 1_000] } },
        ],
      },
      policies: { planner: {}, runtime: [] },
      specialInstructions: [],
      metadata: {},
    },
    facets,
    capabilities: withBuiltins([...chain, ...others]),
  }
}
