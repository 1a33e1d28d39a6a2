/** Plans from an envelope alone and runs the plan, offline: facets chain a model and a function, and the writer is held to the constraint. */
import { createApp, defineCapability, type Provider, type WireEnvelope } from 'proviso'
import { search, withBuiltins } from 'proviso/plan'
import { marketingFacets } from 'proviso/presets/marketing'

/** Stands in for a model: it is asked through the same port, and read by the same reader. */
const model: Provider = {
  name: 'offline',
  async generate({ system }) {
    const text = system.includes('Supply "writerBrief"')
      ? 'Here you are: {"writerBrief": {"angle": "calm", "keyPoints": ["audit trail",]}}'
      : '{"objectiveBrief": {"objective": "Launch the audit trail"}}'
    return { kind: 'text', text, finish: 'stop', usage: { outputTokens: 20 } }
  },
}

const strategist = defineCapability({
  capabilityId: 'strategist',
  kind: 'model',
  summary: 'Turns an objective into a brief.',
  inputContract: ['objectiveBrief', 'toneOfVoice'],
  outputContract: ['writerBrief'],
})
const writer = defineCapability({
  capabilityId: 'writer',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  idempotent: true,
  run: (inputs) => {
    const { angle, keyPoints } = (inputs as { writerBrief: { angle: string; keyPoints: string[] } })
      .writerBrief
    const variant = (n: number) => ({
      headline: `${keyPoints[0]} (${angle}, ${n})`,
      body: '…',
      callToAction: 'Try it',
    })
    return { copyVariants: [variant(1), variant(2)] }
  },
})

const envelope: WireEnvelope = {
  objective: 'Two posts about the launch of our audit trail',
  inputs: { toneOfVoice: 'calm' },
  outputContract: {
    schema: { type: 'object', properties: { copyVariants: { type: 'array' } }, required: ['copyVariants'] },
    constraints: [
      { constraintId: 'two', level: 'hard', expr: { '==': [{ var: 'copyVariants.length' }, 2] } },
    ],
  },
}

const app = await createApp({
  facets: marketingFacets,
  capabilities: [strategist, writer],
  providers: [model],
  defaultModel: 'offline/any',
})
const { runId, status, output } = await app.run(envelope)
const { plan } = await app.state(runId)
for (const { id, capabilityId, rationale } of plan?.nodes ?? [])
  console.log(`${id} (${capabilityId}): ${rationale}`)
console.log(plan?.diagnostics.status, plan?.nodes.at(-1)?.enforces)
console.log(status, output)
await app.close()

// The same without running anything: the plan without registered capabilities, and its reasons.
const { nodes, proved, choices } = planAlone()
console.log(nodes, proved, choices)

function planAlone() {
  const bare = {
    objective: 'One word',
    inputs: {},
    constraints: {},
    outputContract: {
      schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      constraints: [],
    },
    policies: { planner: {}, runtime: [] },
    specialInstructions: [],
    metadata: {},
  }
  const found = search({ envelope: bare, facets: [], capabilities: withBuiltins([]) })
  return { nodes: found.draft.nodes.length, proved: found.proof.ok, choices: found.choices }
}

// Prints:
// structure (proviso.structure): Supplies objectiveBrief: `proviso.structure` reads an input facet out of the envelope
// strategist (strategist): Supplies writerBrief: a capability that declares it (strategist, score 0.82)
// writer (writer): Supplies copyVariants: a capability that declares it (writer, score 0.82)
// accepted [ 'two' ]
// completed {
//   copyVariants: [
//     {
//       headline: 'audit trail (calm, 1)',
//       body: '…',
//       callToAction: 'Try it'
//     },
//     {
//       headline: 'audit trail (calm, 2)',
//       body: '…',
//       callToAction: 'Try it'
//     }
//   ]
// }
// 1 true [
//   {
//     wanted: 'word',
//     taken: 'answer',
//     because: '`proviso.answer` supplies a property of the answer itself'
//   }
// ]
