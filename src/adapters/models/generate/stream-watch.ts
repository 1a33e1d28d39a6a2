/** Checks an answer while it arrives: emits partial values, and detects when it can no longer satisfy the schema. */
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, own } from '../../../base/json.ts'
import { type Pointer, tokens } from '../../../base/pointer.ts'
import type { TurnPartial } from '../../../domain/loop-facts.ts'
import { createReader, parse } from '../../../output/index.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'

export interface PartialValue<Value = unknown> {
  /** A live view until the next chunk; unvalidated. */
  readonly value: Value
  readonly finished: readonly Pointer[]
  /** Another candidate took over: earlier partials are void. */
  readonly replaced: boolean
  /** Of an agent: the turn that its model writes. The value is undefined until it writes the answer. */
  readonly turn?: TurnPartial
}

interface StreamWatch {
  /** Processes the next chunk. Returns issues if no continuation can make the answer valid. */
  push(chunk: string): readonly Issue[]
}

interface WatchStreamOptions {
  readonly schema: JsonSchema
  readonly onPartial?: ((partial: PartialValue) => void) | undefined
  /** The provider holds the model to one JSON value: a finished part that is wrong stays wrong. */
  readonly final: boolean
  /** Run the patterns of the schema in linear time. Default false. */
  readonly linearPatterns?: boolean | undefined
}

export function watchStream({
  schema,
  onPartial,
  final,
  linearPatterns = false,
}: WatchStreamOptions): StreamWatch {
  const reader = createReader(schema, { linearPatterns })
  let spentMs = 0
  let isWatching = true
  return {
    push(chunk) {
      if (chunk.length > longestChunk || spentMs > mostMs) isWatching = false
      if (!isWatching) return []
      const begun = performance.now()
      const { partial, finished, replaced } = reader.push(chunk)
      spentMs += performance.now() - begun
      if (partial !== undefined) onPartial?.({ value: partial, finished, replaced })
      return final ? finished.flatMap((pointer) => doomed(partial, pointer, { schema, linearPatterns })) : []
    },
  }
}

/** A longer chunk ends the watch: it would be read in one piece on the main thread. The whole text is read later, off it. */
const longestChunk = 16_384
/** How long the chunks of one answer may be read on the main thread, all together. */
const mostMs = 1_000

/** What is wrong with a finished part even after everything that the reader may do to it. */
function doomed(
  value: unknown,
  pointer: Pointer,
  { schema, linearPatterns = false }: Pick<WatchStreamOptions, 'schema' | 'linearPatterns'>,
): readonly Issue[] {
  const wanted = schemaAt(schema, pointer)
  if (pointer === '' || wanted === undefined) return []
  const part = valueAt(value, pointer)
  const text = JSON.stringify(part)
  // Null may stand for a member that is absent.
  if (text === undefined || part === null) return []
  const read = parse(text, wanted, { linearPatterns })
  if (read.ok) return []
  return read.issues.map((issue) => ({
    ...issue,
    at: { pointer: 'pointer' in issue.at ? `${pointer}${issue.at.pointer}` : pointer },
  }))
}

/** Returns the schema of a part, if it is certain: through plain properties and items, without references. */
function schemaAt(root: JsonSchema, pointer: Pointer): JsonSchema | undefined {
  let at: unknown = root
  for (const token of tokens(pointer)) {
    if (!isObject(at) || uncertain.some((keyword) => keyword in (at as object))) return undefined
    const properties = own(at, 'properties')
    if (isObject(properties) && Object.hasOwn(properties, token)) at = properties[token]
    else if (/^\d+$/.test(token) && isObject(at['items'])) at = at['items']
    else return undefined
  }
  if (!isObject(at) || JSON.stringify(at).includes('"$ref"')) return undefined
  return at
}

const uncertain = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'prefixItems', 'patternProperties'] as const

function valueAt(value: unknown, pointer: Pointer): unknown {
  return tokens(pointer).reduce<unknown>(
    (inside, token) => (typeof inside === 'object' && inside !== null ? own(inside, token) : undefined),
    value,
  )
}
