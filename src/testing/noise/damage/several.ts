/** Damage by separation: the items of a list written one by one, without the list around them. */
import type { Json } from '../../../base/json.ts'
import { rootForm } from '../shape.ts'
import type { Damage } from '../types.ts'
import { embedded } from './outcome.ts'

function separate(name: string, join: (items: string[]) => string): Damage {
  return {
    name,
    family: 'several',
    slot: 'embed',
    alone: true,
    apply(random, sample) {
      if (rootForm(sample.schema, sample.value) !== 'list-of-objects') return undefined
      const items = sample.value as readonly Json[]
      if (items.length < 2) return undefined
      const indent = random.chance(0.3) ? 2 : 0
      return embedded(sample, join(items.map((item) => JSON.stringify(item, null, indent))))
    },
  }
}

export const SEVERAL: readonly Damage[] = [
  separate('items-by-line', (items) => items.join('\n')),
  separate('items-by-comma', (items) => items.join(',\n')),
  separate('items-adjacent', (items) => items.join(' ')),
  separate('items-in-fences', (items) => items.map((item) => `\`\`\`json\n${item}\n\`\`\``).join('\n\n')),
  separate('items-in-prose', (items) => items.map((item, i) => `Item ${i + 1}: ${item}`).join('\n\n')),
  separate('items-in-tags', (items) => items.map((item) => `<item>${item}</item>`).join('\n')),
  separate('items-in-bullets', (items) => items.map((item) => `- ${item}`).join('\n')),
]
