/** Says in words how an untrusted schema goes beyond a limit; the light reader only names the limit. */
import { clip } from '../describe.ts'
import { safeFormats } from '../patterns/formats.ts'
import { type LimitName, schemaLimits } from './schema-limits.ts'

/** What is wrong with the schema, as the rest of a sentence, and what to do about it. */
interface Words {
  readonly what: string
  readonly hint?: string
}

const words: Readonly<Record<LimitName, (found: unknown) => string>> = {
  bytes: () => `is larger than ${schemaLimits.bytes} bytes`,
  depth: () => `is nested deeper than ${schemaLimits.depth}`,
  nodes: () => `has more than ${schemaLimits.nodes} nodes`,
  properties: () => `has an object with more than ${schemaLimits.properties} properties`,
  pattern: () => `has a pattern longer than ${schemaLimits.pattern} characters`,
  expanded: (size) =>
    `unfolds to ${size} schemas, more than ${schemaLimits.expanded}, because of its references`,
  uniqueItems: () => `asks for uniqueItems without maxItems of at most ${schemaLimits.uniqueItems}`,
  $data: () => 'uses $data, which is not allowed',
  $ref: (ref) => `refers to ${clip(ref)}; only references inside the schema are allowed`,
  $id: () => 'has an $id below its root, which is not allowed',
  format: (format) => `asks for the format ${clip(format)}, which is not allowed`,
}

/** `found`: the value that is not allowed, or the count that is too high. */
export function describeLimit(limit: LimitName, found?: unknown): Words {
  const what = words[limit](found)
  return limit === 'format' ? { what, hint: `Use one of ${[...safeFormats].join(', ')}` } : { what }
}
