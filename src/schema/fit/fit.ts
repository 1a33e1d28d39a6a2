/**
 * Does every value of one schema satisfy another? Asked by the prover wherever one node's output becomes another's input.
 * Yes is proved, no comes with a value that shows it, and everything else is unknown: then the value itself is
 * validated at run time.
 */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { type CompiledSchema, type CompileOptions, compileSchema } from '../compile/compile.ts'
import type { JsonSchema } from '../json-schema.ts'
import { hold } from '../values/schema-node.ts'
import { proofGap } from './fit-proof.ts'
import { samplesOf } from './fit-samples.ts'

export type Fit =
  | { readonly kind: 'yes' }
  /** `witness` satisfies the first schema and breaks the second at `pointer` by `keyword`. */
  | { readonly kind: 'no'; readonly witness: Json; readonly pointer: Pointer; readonly keyword: string }
  /** The place and keyword that could not be proved. */
  | { readonly kind: 'unknown'; readonly pointer: Pointer; readonly keyword: string }

/**
 * @example
 * fitOf({ type: 'integer', minimum: 1 }, { type: 'number', exclusiveMinimum: 0 }) // { kind: 'yes' }
 */
export function fitOf(from: JsonSchema, to: JsonSchema, options: CompileOptions = {}): Fit {
  const gap = proofGap(hold(from), hold(to), options)
  if (gap === undefined) return { kind: 'yes' }
  const [source, target] = [compileSchema(from, options), compileSchema(to, options)]
  const values = listedIn(from)
  if (values !== undefined) {
    const wrong = values.find((value) => !target.accepts(value))
    return wrong === undefined ? { kind: 'yes' } : refuted(wrong, target)
  }
  for (const witness of samplesOf(from, to)) {
    if (source.accepts(witness) && !target.accepts(witness)) return refuted(witness, target)
  }
  return { kind: 'unknown', ...gap }
}

/** The values of a schema that says no more than which they are: whether they fit need not be guessed. */
function listedIn(schema: JsonSchema): readonly Json[] | undefined {
  if (typeof schema === 'boolean') return undefined
  const [keyword, ...others] = Object.keys(schema)
  if (others.length > 0) return undefined
  if (keyword === 'const') return [schema['const'] as Json]
  return keyword === 'enum' && Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined
}

function refuted(witness: Json, target: CompiledSchema): Fit {
  const [issue] = target.validate(witness, 1)
  return {
    kind: 'no',
    witness,
    pointer: issue && 'pointer' in issue.at ? issue.at.pointer : '',
    keyword: issue?.code.replace('schema/', '') ?? 'false',
  }
}
