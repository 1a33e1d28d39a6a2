/** What spans say of an attempt is stored with it and read back, on both embedded stores (AROS-60). */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { defineCapability, type ModelAnswer } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { envelope, open, text } from '../journeys/support.ts'

const writer = defineCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: text,
  preferredModels: ['house/tea'],
})
const said = (words: string): ModelAnswer => ({ kind: 'text', text: words, finish: 'stop', usage: {} })
const addresses = ['memory:', `sqlite:${join(mkdtempSync(join(tmpdir(), 'proviso-spans-')), 'spans.db')}`]

it.each(addresses)(
  'model and transforms of an attempt survive storage in %s; a failed one has none',
  async (address) => {
    const store = await openStore(address)
    const answers = { 1: said('{text: "tea",}'), 2: said('no tea') }
    const app = await open({ store, capabilities: [writer], providers: [rehearsal({ faults: answers })] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', callBudget: 1 }] }
    const good = await app.run(envelope(), { draft })
    const bad = await app.run(envelope(), { draft })
    expect([good.status, bad.status]).toEqual(['completed', 'failed'])
    const attempt = async (runId: string) =>
      (await store.spans(runId)).find(({ name }) => name === 'attempt')?.attributes
    expect(await attempt(good.runId)).toMatchObject({
      'aros.model_id': 'house/tea',
      'aros.coercion.transforms': expect.arrayContaining([expect.any(String)]),
    })
    expect(await attempt(bad.runId)).not.toHaveProperty(['aros.coercion.transforms'])
  },
)
