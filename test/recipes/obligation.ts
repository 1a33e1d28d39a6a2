import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** Node ids have at most 40 characters. */
export const obligation: Recipe = {
  title: 'Add an obligation',
  apply({ create, insertAfter }) {
    create(
      'src/plan/prove/obligations/short-ids.ts',
      `/** Obligation: node ids have at most 40 characters, so that lists stay readable. */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved } from '../proof-request.ts'

export function shortIds({ nodes }: Resolved): readonly Diagnostic[] {
  return nodes
    .filter(({ id }) => id.length > 40)
    .map(({ id: nodeId }) =>
      createDiagnostic('plan/long-id', {
        constraint: \`the id "\${nodeId}" has at most 40 characters\`,
        nodeId,
        suggestion: 'Shorten the id of the node',
      }),
    )
}
`,
    )
    insertAfter(
      'src/plan/diagnostics.ts',
      'export const diagnosticTable = {\n',
      "  'plan/long-id': hard('schema_incompatible', 'a node id is longer than 40 characters'),\n",
    )
    insertAfter(
      'src/plan/prove/prove.ts',
      "import { shape } from './obligations/shape.ts'\n",
      "import { shortIds } from './obligations/short-ids.ts'\n",
    )
    insertAfter(
      'src/plan/prove/prove.ts',
      'const obligations: Readonly<Record<string, Obligation>> = {\n',
      '  shortIds,\n',
    )
  },
  entries: ['src/plan/index.ts'],
  async check({ import: load }) {
    const { parseCapability, parseEnvelope, prove } =
      await load<typeof import('../../src/plan/index.ts')>('src/plan/index.ts')
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    const envelope = parseEnvelope({ objective: 'Write', outputContract: { schema } })
    const write = parseCapability({
      capabilityId: 'write',
      version: '1',
      displayName: 'Writer',
      summary: 'Writes',
      kind: 'scripted',
      inputContract: { type: 'object' },
      outputContract: schema,
    })
    if (!envelope.ok || !write.ok) throw new Error(JSON.stringify([envelope, write]))
    const id = 'a-very-long-name-of-a-node-that-no-list-can-show'
    const proof = prove({
      envelope: envelope.value,
      draft: { nodes: [{ id, capabilityId: 'write' }] },
      facets: [],
      capabilities: [write.value],
      version: 1,
    })
    if (proof.ok) throw new Error('The draft was accepted')
    expect(proof.diagnostics.failures).toMatchObject([{ nodeId: id, details: { code: 'plan/long-id' } }])
  },
}
