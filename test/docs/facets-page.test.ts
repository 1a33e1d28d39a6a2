/** `docs/reference/facets.md` is printed from the catalog; `npx vitest run test/docs/facets-page.test.ts -u` prints it anew. */
import { expect, it } from 'vitest'
import type { JsonSchema } from '../../src/index.ts'
import { marketingFacets, marketingRegistrations } from '../../src/presets/marketing/index.ts'

it('prints facets and capabilities into the reference', async () => {
  const page = [
    '# Facets and capabilities of the marketing preset',
    'Printed from the code; do not edit by hand. A facet is a named, schema-typed piece of meaning; capabilities say which facets they need and supply, and plans are made by matching them.',
    'No catalog has these by itself. Register them with `createApp({ ...marketing })` from `proviso/presets/marketing`, with `--preset marketing` on the command line, or with `presets = ["marketing"]` under `[catalog]` in `proviso.toml`. `npm start` registers them. The three agents are carried out by a model: the default model, or the rehearsal model in development without a key. `marketingTools` of the same entry point are functions without a model; register those you want. To define facets of your own, see [the how-to](../howto/facets.md).',
    '## Facets',
    table(
      ['facet', 'direction', 'what it is', 'schema'],
      marketingFacets.map(({ name, metadata, description, schema }) => [
        `\`${name}\``,
        metadata.direction,
        description,
        describeType(schema),
      ]),
    ),
    '## How each is to be understood',
    table(
      ['facet', 'instruction'],
      marketingFacets.map(({ name, semantics }) => [`\`${name}\``, semantics.instruction]),
    ),
    '## Capabilities',
    table(
      ['capability', 'name', 'kind of node', 'what it does', 'needs', 'supplies'],
      marketingRegistrations.map((capability) => [
        `\`${capability.capabilityId}\``,
        capability.displayName,
        capability.nodeKind,
        capability.summary,
        list(capability.inputContract),
        list(capability.outputContract),
      ]),
    ),
  ]
  await expect(`${page.join('\n\n')}\n`).toMatchFileSnapshot('../../docs/reference/facets.md')
})

function table(head: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string {
  const line = (cells: readonly (string | undefined)[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function list(names: unknown): string {
  return (names as readonly string[]).map((name) => `\`${name}\``).join(', ')
}

interface Described {
  readonly type?: string | readonly string[]
  readonly properties?: Record<string, Described>
  readonly required?: readonly string[]
  readonly items?: Described
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Described[]
}

/** A schema in a few words: optional properties have a question mark. */
function describeType(schema: JsonSchema | Described): string {
  const { type, properties, required = [], items, enum: words, anyOf } = schema as Described
  if (anyOf) return anyOf.map(describeType).join(' or ')
  if (words) return words.join(', ')
  if (properties) {
    return `{ ${Object.entries(properties)
      .map(([name, part]) => `${name}${required.includes(name) ? '' : '?'}: ${describeType(part)}`)
      .join('; ')} }`
  }
  if (items) return `list of ${describeType(items)}`
  return [type].flat().join(' or ')
}
