/** Reads generated pairs and reports the ones that throw, or whose work grows faster than the text. */
import { createReader } from '../../src/output/index.ts'
import { parseCounted } from '../seams/output.ts'
import { buildText, pick, randomFrom, type Shape, schemaFrom, shapeFrom } from './generate.ts'

export interface Finding {
  readonly seed: number
  readonly what: string
  readonly text: string
  readonly schema: unknown
}

export interface Found {
  readonly pairs: number
  /** How many pairs have a fault. */
  readonly count: number
  /** How many of them made the reader throw. */
  readonly throws: number
  /** The first of them. */
  readonly findings: readonly Finding[]
  /**
   * Pairs that need more steps than `parse` allows by default, and no more for each character when the text grows: unions
   * of unions with many branches. `parse` ends them with a located issue.
   */
  readonly limited: number
  /** Pairs whose processor time was measured too. */
  readonly timed: number
  /** The most memory that the process has had, in MB. */
  readonly memory: number
  /** Processor time of the search, in seconds. */
  readonly seconds: number
}

/** Doubling the text may at most multiply the work by this. */
const DOUBLING = 2.5
/** Growth up to this many steps is no growth to speak of. */
const NOISE_FLOOR = 150_000
/** Growth up to this many milliseconds of processor time is within what the clock and the garbage collector add. */
const NOISE_TIME = 20
/** What `limits.steps` is by default, and how many times as much the search allows. */
const ALLOWED = { base: 2_000_000, perCharacter: 100 }
const MORE = 10
/** Texts nested deeper may reach the limit of depth. */
const DEEP = 200
const SCHEMAS_EACH = 100
/** One text in so many is long. */
const LONG_EACH = 20
/** The processor time of one pair in so many is measured, with texts of `TIMED_LENGTH`. */
const TIMED_EACH = 500
const TIMED_LENGTH = 20_000
const MEASUREMENTS = 3
const PROGRESS_EACH = 100
/** What the description of an exception begins with. */
const THREW = 'threw '

export interface SearchOptions {
  readonly from: number
  readonly pairs: number
  /** Length of the shorter text of each pair; the longer one has twice as many characters. */
  readonly length: number
  /** How many findings to keep; all are counted. */
  readonly most?: number
  /** Called every 100 pairs with what was found so far. */
  onProgress?(found: Found): void
}

export function search({ from, pairs, length, most = 10, onProgress }: SearchOptions): Found {
  const findings: Finding[] = []
  const began = process.cpuUsage()
  let count = 0
  let throws = 0
  let timed = 0
  let limited = 0
  const found = (read: number): Found => {
    const { user, system } = process.cpuUsage(began)
    const memory = Math.round(process.resourceUsage().maxRSS / 1024)
    return {
      pairs: read,
      count,
      throws,
      findings,
      limited,
      timed,
      memory,
      seconds: Math.round((user + system) / 1e6),
    }
  }
  let schema: unknown
  for (let seed = from; seed < from + pairs; seed++) {
    // Compiling a schema takes longer than reading a text: each is used for several.
    const group = seed - (seed % SCHEMAS_EACH)
    if (schema === undefined || seed === group) schema = schemaFrom(randomFrom(group))
    const random = randomFrom(seed * 2 + 1)
    const shape = shapeFrom(random)
    const wanted = pick(random, [schema, schema, schema, undefined])
    let what = fault(shape, wanted, seed % LONG_EACH === 0 ? length * 20 : length, () => limited++)
    if (what === undefined && seed % TIMED_EACH === 0) {
      timed++
      what = slowness(shape, wanted)
    }
    if (what?.startsWith(THREW)) throws++
    if (what !== undefined && ++count <= most)
      findings.push({ seed, what, text: buildText(shape, length), schema: wanted })
    if ((seed - from + 1) % PROGRESS_EACH === 0) onProgress?.(found(seed - from + 1))
  }
  return found(pairs)
}

type Wanted = Parameters<typeof parseCounted>[1]

/** What is wrong with the pair: an exception, a limit that such a text should not reach, or steps that grow too fast. */
export function fault(
  shape: Shape,
  given: unknown,
  length: number,
  onLimited?: () => void,
): string | undefined {
  const schema = given as Wanted // generated as a JSON Schema
  const text = buildText(shape, length)
  try {
    const reader = createReader(schema)
    for (let at = 0; at < text.length; at += 7) reader.push(text.slice(at, at + 7))
    let isLimited = false
    const growth = tooMuchGrowth('steps', NOISE_FLOOR, (times) => {
      const longer = times === 1 ? text : buildText(shape, length * times)
      const allowed = ALLOWED.base + ALLOWED.perCharacter * longer.length
      const { result, steps } = parseCounted(longer, schema, { limits: { steps: MORE * allowed } })
      if (times <= 2 && steps > allowed) isLimited = true
      const limit = result.issues.find((issue) => issue.code.startsWith('limit/'))
      // A text may be nested too deeply; up to there depth costs no more than length.
      const isDeep = limit?.code === 'limit/depth' && depthOf(longer) > DEEP
      if (limit === undefined || isDeep) return isDeep ? 0 : steps
      return `${limit.code}: ${limit.message}`
    })
    if (growth === undefined && isLimited) onLimited?.()
    return growth
  } catch (error) {
    const { name, message } = error as Error
    // Schemas that cannot be used are refused by name; anything else is a fault of the reader.
    return name === 'ProvisoError' ? undefined : `${THREW}${name}: ${message}`
  }
}

/**
 * Whether doubling the text multiplies the work by too much. A text may reach another path of the reader at one length, so
 * growth at one doubling is a fault only if one of the next two doublings grows as fast: then it is no single jump. Odd and
 * even numbers of a motif may take different paths, so a length is compared with all shorter ones.
 */
export function tooMuchGrowth(
  unit: string,
  floor: number,
  workOf: (times: number) => number | string,
): string | undefined {
  // The longer text first: little work for it rules growth out, so most pairs are read once.
  const second = workOf(2)
  if (typeof second === 'string') return second
  if (second <= floor) return undefined
  const works: number[] = []
  const jumps: boolean[] = []
  for (const times of [1, 2, 4, 8]) {
    const work = times === 2 ? second : workOf(times)
    if (typeof work === 'string') return work
    const isJump =
      work > floor && works.every((before, at) => work > DOUBLING ** (works.length - at) * before)
    works.push(work)
    if (times === 1) continue
    jumps.push(isJump)
    if (!jumps[0]) return undefined
  }
  return jumps.filter(Boolean).length > 1
    ? `${works.map((work) => Math.round(work)).join(', ')} ${unit} for 1, 2, 4 and 8 times the text`
    : undefined
}

/**
 * The same by processor time: work that is charged too few steps shows here. Limits are no fault of texts of this length.
 * Other work on the machine makes some measurements longer, so growth is a fault only if every measurement shows it.
 */
export function slowness(shape: Shape, given: unknown): string | undefined {
  let growth: string | undefined
  for (let time = 0; time < MEASUREMENTS; time++) {
    growth = growthInTime(shape, given)
    if (growth === undefined) return undefined
  }
  return growth
}

function growthInTime(shape: Shape, given: unknown): string | undefined {
  return tooMuchGrowth('ms', NOISE_TIME, (times) => {
    const text = buildText(shape, TIMED_LENGTH * times)
    let least = Number.POSITIVE_INFINITY
    for (let run = 0; run < 3; run++) {
      const began = process.cpuUsage()
      parseCounted(text, given as Wanted)
      const { user, system } = process.cpuUsage(began)
      least = Math.min(least, (user + system) / 1_000)
    }
    return least
  })
}

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')', '｛': '｝', '［': '］' }

/** The most brackets that are open at once, at any location. A bracket of another kind closes nothing. */
function depthOf(text: string): number {
  const open: (string | undefined)[] = []
  let deepest = 0
  for (const character of text) {
    if (character in CLOSERS) deepest = Math.max(deepest, open.push(CLOSERS[character]))
    else if (character === open.at(-1)) open.pop()
  }
  return deepest
}
