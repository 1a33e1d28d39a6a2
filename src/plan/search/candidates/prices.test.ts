import { expect, it } from 'vitest'
import { defineCapability } from '../../../domain/capability/define-capability.ts'
import { parseEnvelope } from '../../../domain/envelope/parse-envelope.ts'
import type { SearchRequest } from '../search-request.ts'
import { priceRequest } from './prices.ts'

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const { capability } = defineCapability({
  capabilityId: 'write',
  inputContract: { type: 'object' },
  outputContract: schema,
  run: () => ({ text: '' }),
})

function createRequest(): SearchRequest {
  const parsed = parseEnvelope({ objective: 'Write', outputContract: { mode: 'json_schema', schema } })
  if (!parsed.ok) throw new Error(parsed.issues[0]?.message)
  return { envelope: parsed.value, facets: [], capabilities: [capability] }
}

it('prices a request once for the record of its candidates and the search', () => {
  const request = createRequest()
  const recorded = priceRequest(request, 'keep')
  const searched = priceRequest({ ...request, phase: 'initial' }, 'take')
  expect(searched.producers).toBe(recorded.producers)
  expect(searched.space.request.phase).toBe('initial')
})

it('prices again for the next plan, another catalog and completed work', () => {
  const request = createRequest()
  const first = priceRequest(request, 'take')
  const { producers } = priceRequest(request, 'keep')
  expect(producers).not.toBe(first.producers)
  const others: Partial<SearchRequest>[] = [
    { capabilities: [capability] },
    { facets: [] },
    { cutoff: 0.5 },
    { completed: [{ id: 'a', output: {} }] },
  ]
  for (const other of others) {
    const again = priceRequest({ ...request, ...other }, 'keep')
    expect(again.producers).not.toBe(producers)
    priceRequest(request, 'take')
    expect(priceRequest(request, 'keep').producers).not.toBe(again.producers)
  }
})
