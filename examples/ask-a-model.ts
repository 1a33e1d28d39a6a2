/** A value under contract from a model. The rehearsal model needs no key; with one, name a provider instead. */
import { generateValue } from 'proviso/models'
import { rehearsal } from 'proviso/testing'

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 3, maxLength: 40 },
    rating: { type: 'integer', minimum: 1, maximum: 5 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
  },
  required: ['title', 'rating', 'tags'],
} as const

// With a key: import { openai } from 'proviso/providers/openai', and providers: [openai({ apiKey })].
// This one writes as careless models do: one answer out of two is damaged.
const careless = rehearsal({ seed: 12, noise: 0.5 })

for (const objective of ['Review oolong from Taipei', 'Avis sur la crème brûlée']) {
  const events: string[] = []
  const { outcome, output, usage } = await generateValue({
    providers: [careless],
    model: 'openai/gpt-5-mini',
    objective,
    schema,
    onEvent: (event) => events.push(event),
  })
  console.log(outcome, JSON.stringify(output?.value), `${usage.calls} call`)
  console.log(events.join(' '))
}

// Prints:
// ok {"title":"Review oolong from Taipei","rating":3,"tags":["Review oolong from"]} 1 call
// aros.soe.skipped
// ok {"title":"sur la crème brûlée","rating":2,"tags":["la crème","Avis sur la crème brûlée"]} 1 call
// aros.soe.skipped aros.repair.started output.coercion.attempt output.coercion.success aros.repair.success
