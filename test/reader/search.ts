/** Reads generated pairs and reports the ones that throw, or whose work grows faster than the text. */
import { createReader } from '../../src/output/index.ts'
import { parseCounted } from '../../src/output/parse.ts'
import { pick, randomFrom, type Shape, schemaFrom, shapeFrom, textOf } from './generate.ts'

export interface Finding {
  readonly seed: number
  readonly what: string
  readonly text: string
  readonly schema: unknown
}

/** Doubling the text may at most multiply the steps by this. */
const DOUBLING = 2.5
/** Growth up to this many steps is no growth to speak of. */
const NOISE_FLOOR = 150_000
/** Texts nested deeper may reach the limit of depth. */
const DEEP = 200
const SCHEMAS_EACH = 100
/** One text in so many is long. */
const LONG_EACH = 20

export interface SearchOptions {
  readonly from: number
  readonly pairs: number
  /** Length of the shorter text of each pair; the longer one has twice as many characters. */
  readonly length: number
  /** Stop after so many findings. */
  readonly most?: number
}

export function search({ from, pairs, length, most = 10 }: SearchOptions): Finding[] {
  const findings: Finding[] = []
  let schema: unknown
  for (let seed = from; seed < from + pairs && findings.length < most; seed++) {
    // Compiling a schema takes longer than reading a text: each is used for several.
    const group = seed - (seed % SCHEMAS_EACH)
    if (schema === undefined || seed === group) schema = schemaFrom(randomFrom(group))
    const random = randomFrom(seed * 2 + 1)
    const shape = shapeFrom(random)
    const wanted = pick(random, [schema, schema, schema, undefined])
    const what = fault(shape, wanted, seed % LONG_EACH === 0 ? length * 20 : length)
    if (what !== undefined) findings.push({ seed, what, text: textOf(shape, length), schema: wanted })
  }
  return findings
}

type Wanted = Parameters<typeof parseCounted>[1]

/** What is wrong with the pair: an exception, a limit that such a text should not reach, or steps that grow too fast. */
export function fault(shape: Shape, given: unknown, length: number): string | undefined {
  const schema = given as Wanted // generated as a JSON Schema
  const texts = [1, 2].map((times) => textOf(shape, length * times)) as [string, string]
  try {
    const short = parseCounted(texts[0], schema)
    const long = parseCounted(texts[1], schema)
    const reader = createReader(schema)
    for (let at = 0; at < texts[0].length; at += 7) reader.push(texts[0].slice(at, at + 7))
    const limit = long.result.issues.find((issue) => issue.code.startsWith('limit/'))
    // A text may be nested too deeply; up to there depth costs no more than length.
    if (limit?.code === 'limit/depth' && depthOf(texts[1]) > DEEP) return undefined
    if (limit !== undefined) return `${limit.code}: ${limit.message}`
    if (long.steps <= Math.max(DOUBLING * short.steps, NOISE_FLOOR)) return undefined
    return `${short.steps} steps for ${texts[0].length} characters, ${long.steps} for ${texts[1].length}`
  } catch (error) {
    const { name, message } = error as Error
    // Schemas that cannot be used are refused by name; anything else is a fault of the reader.
    return name === 'ProvisoError' ? undefined : `${name}: ${message}`
  }
}

/** The most brackets that are open at once, wherever they stand. */
function depthOf(text: string): number {
  let open = 0
  let deepest = 0
  for (const character of text) {
    if ('{[(｛［'.includes(character)) deepest = Math.max(deepest, ++open)
    else if ('}])｝］'.includes(character) && open > 0) open--
  }
  return deepest
}
