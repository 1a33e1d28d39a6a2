import { expect, it } from 'vitest'
import { defineCapability } from '../../../domain/capability/define-capability.ts'
import { parseEnvelope } from '../../../domain/envelope/parse-envelope.ts'
import { search } from '../search.ts'
import type { SearchRequest } from '../search-request.ts'
import { considerCandidates, priceRequest } from './prices.ts'

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
  let reads = 0
  const given = createRequest()
  // Pricing reads the policies of the caller.
  const envelope = Object.defineProperty({ ...given.envelope }, 'policies', {
    get() {
      reads++
      return given.envelope.policies
    },
  })
  const request = { ...given, envelope }
  const considered = considerCandidates(request)
  expect(considerCandidates({ ...request, considered })).toBe(considered)
  const before = reads
  const searched = priceRequest({ ...request, considered, phase: 'initial' })
  expect(reads).toBe(before)
  expect(searched.space.request.phase).toBe('initial')
  // One search uses the prices; the next one makes its own.
  priceRequest({ ...request, considered })
  expect(reads).toBeGreaterThan(before)
})

it('prices again for another envelope, another catalog and completed work', () => {
  const request = createRequest()
  const others: Partial<SearchRequest>[] = [
    { envelope: createRequest().envelope },
    { capabilities: [capability] },
    { facets: [] },
    { cutoff: 0.5 },
    { completed: [{ id: 'a', output: {} }] },
  ]
  for (const other of others) {
    const considered = considerCandidates(request)
    expect(considerCandidates({ ...request, ...other, considered })).not.toBe(considered)
    expect(priceRequest({ ...request, considered }).space.request.envelope).toBe(request.envelope)
  }
})

it('returns what a search considered, with its prices', () => {
  const request = createRequest()
  const { considered, draft } = search(request)
  expect(considered.capabilities).toEqual([{ capability, cost: expect.any(Number) }])
  expect(search({ ...request, considered: considerCandidates(request) }).draft).toEqual(draft)
})
