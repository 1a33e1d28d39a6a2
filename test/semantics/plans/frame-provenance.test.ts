/** Planner, policy, human-in-the-loop, validation and final frames say which facets they are about, also to late joiners. */
import { defineCapability } from 'proviso'
import { expect, it } from 'vitest'
import { frames, type SseFrame, serve } from '../../server/support.ts'

const variants = [{ headline: 'Tea', body: 'It is warm.', callToAction: 'Sip' }]
const writer = defineCapability({
  capabilityId: 'writer',
  kind: 'scripted',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  settings: {
    script: [{ text: '{"copyVariants": 7}' }, { text: JSON.stringify({ copyVariants: variants }) }],
  },
})

const body = {
  envelope: {
    objective: 'One post',
    inputs: { writerBrief: { angle: 'calm', keyPoints: ['tea'] } },
    outputContract: {
      schema: { type: 'object', properties: { copyVariants: { type: 'array' } }, required: ['copyVariants'] },
    },
    policies: {
      requiresHitlApproval: true,
      runtime: [
        { id: 'note', trigger: { kind: 'onNodeComplete' }, action: { type: 'emit', event: 'written' } },
      ],
    },
  },
  draft: { nodes: [{ id: 'write', capabilityId: 'writer', retry: { max: 1 } }] },
}

const wanted = ['plan_generated', 'validation_error', 'policy_triggered', 'hitl_request']
const facetsOf = (frame: SseFrame | undefined) =>
  (
    frame as unknown as { facetProvenance?: { output: { facet: string }[] } } | undefined
  )?.facetProvenance?.output.map(({ facet }) => facet)

it('is on every such frame of a stream, of a page, and of a stream that begins in the middle', async () => {
  const served = await serve({ capabilities: [writer] })
  const first = await frames(await served.call('/api/v1/flex/run.stream', { body }))
  for (const type of wanted)
    expect(facetsOf(first.find((frame) => frame.type === type)), type).toEqual(['copyVariants'])
  const { runId } = first[0] as SseFrame
  const ask = first.find(({ type }) => type === 'hitl_request')?.payload as {
    requestId: string
    valueHash: string
  }
  const { requestId, valueHash } = ask
  await served.call('/api/v1/flex/hitl/resolve', { body: { requestId, valueHash, decision: 'approve' } })
  const after = first.at(-1)?.id ?? 0
  const late = await frames(
    await served.call(`/api/v1/flex/runs/${runId}/events?after=${after}`, {
      headers: { accept: 'text/event-stream' },
    }),
  )
  for (const type of ['hitl_resolved', 'complete'])
    expect(facetsOf(late.find((frame) => frame.type === type)), type).toEqual(['copyVariants'])
  const page = await (await served.call(`/api/v1/flex/runs/${runId}/events?after=${after}`)).json()
  expect(facetsOf(page.events.find(({ type }) => type === 'complete'))).toEqual(['copyVariants'])
})
