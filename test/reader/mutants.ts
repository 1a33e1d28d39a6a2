/** Mistakes that the search must find: each restores a flaw by which the reader threw, stalled or read a text many times over. */
import type { AnySchema } from '../../src/output/index.ts'
import { parseCounted } from '../seams/output.ts'
import { fault, slowness } from './search.ts'

export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

export const mutants: readonly Mutant[] = [
  {
    name: 'a union inside a union forgets that the outer one is settled',
    file: 'src/schema/shape.ts',
    find: 'const settled = [...this.settled, union.pointer]',
    replace: 'const settled = [union.pointer]',
  },
  {
    name: 'a list of itself is wrapped without end',
    file: 'src/output/coerce/coerce.ts',
    find: 'outer.length >= most || outer.includes(key)',
    replace: 'outer.includes("none")',
  },
  {
    name: 'what a union makes of a value is tried again for every possible location',
    file: 'src/output/coerce/unions.ts',
    find: '(!guide.settings.hasClosed || outcome.pointer === pointer)',
    replace: 'outcome.pointer === pointer',
  },
  {
    name: 'every branch converts the unions below it again',
    file: 'src/output/coerce/unions.ts',
    find: 'if (this.#trying === 0) return',
    replace: 'if (this.#trying >= 0) return',
  },
  {
    name: 'every candidate converts the unions below it again',
    file: 'src/output/coerce/unions.ts',
    find: 'const MOST_KEPT = 5_000',
    replace: 'const MOST_KEPT = 0',
  },
  {
    name: 'values that run past their fence are read to the end of the text each time',
    file: 'src/output/scan/scan.ts',
    find: 'if (this.count < MOST_OVERRUNS) return',
    replace: 'if (this.count >= 0) return',
  },
  {
    name: 'for every fence mark the beginning of its line is searched for',
    file: 'src/output/scan/scan.ts',
    find: 'let before = at - 1\n',
    replace: "let before = text.lastIndexOf('\\n', at - 1) < -1 ? 0 : at - 1\n",
  },
  {
    name: 'alternatives that recurse judge everything below them again',
    file: 'src/schema/interpreter/run.ts',
    find: 'if (this.forks > 0 && site.shared',
    replace: 'if (this.forks < 0 && site.shared',
  },
  {
    name: 'every level of a value is charged for all that is below it',
    file: 'src/output/find/attempt.ts',
    find: 'if (judged === undefined) return',
    replace: 'if (judged === undefined || judged >= 0) return',
  },
  {
    name: 'looking ahead is not charged',
    file: 'src/output/scan/scan.ts',
    find: 'if (decoder.looked > 0) allowance.spend(decoder.looked, at)',
    replace: 'if (decoder.looked < 0) allowance.spend(decoder.looked, at)',
  },
  {
    name: 'a key is read again at each of its line breaks',
    file: 'src/output/decode/strings/strings.ts',
    find: 'const LONGEST_KEY = 400',
    replace: 'const LONGEST_KEY = 4_000_000',
  },
  {
    name: 'the end of a comment is looked for from every beginning of one',
    file: 'src/output/decode/lookahead.ts',
    find: 'const isKnown = start >= known.from',
    replace: 'const isKnown = start < 0 && start >= known.from',
  },
  {
    name: 'a value is wrapped several times inside a union',
    file: 'src/output/coerce/coerce.ts',
    find: 'const MOST_WRAPS_TRIED = 1',
    replace: 'const MOST_WRAPS_TRIED = 3',
  },
  {
    name: 'what is inside of a region is tried as a region too',
    file: 'src/output/find/last-resorts.ts',
    find: '!coversRegion(trial, outer, region, declared)',
    replace: 'coversRegion !== undefined',
  },
  {
    name: 'a long word is read to its end at each of its letters',
    file: 'src/output/decode/plain.ts',
    find: 'while (i - from < 101 && isWordChar',
    replace: 'while (isWordChar',
  },
  {
    name: 'a run of spaces is read again from each of its lines',
    file: 'src/output/decode/lookahead.ts',
    find: 'if (start < known.from || start > known.to) {',
    replace: 'if (start >= 0) {',
  },
  {
    name: 'closing tags are looked for again for every value',
    file: 'src/output/scan/scan.ts',
    find: 'if (known >= from) return known',
    replace: 'if (known >= from && known < length) return known',
  },
  {
    name: 'remarks behind an item are read again for each of them',
    file: 'src/output/decode/values.ts',
    find: 'Math.max(d.base, d.gapStart, d.oneLine)',
    replace: 'Math.max(d.base, d.gapStart)',
  },
  {
    name: 'calls that are never closed are read to the end each time',
    file: 'src/output/find/tool-calls.ts',
    find: 'const MOST_PASSES = 8',
    replace: 'const MOST_PASSES = 8_000',
  },
  {
    name: 'the closing tag of an argument is looked for again for every call',
    file: 'src/output/find/xml-calls.ts',
    find: 'if (missing.has(tag)) return undefined',
    replace: 'if (missing.size < 0) return undefined',
  },
  {
    name: 'running out of call stack leaves the reader',
    file: 'src/output/parse.ts',
    find: 'if (!(error instanceof RangeError)) throw error',
    replace: 'if (!(error instanceof TypeError)) throw error',
  },
]

const RECURSIVE = {
  type: 'array',
  items: { $ref: '#/$defs/t' },
  $defs: { t: { anyOf: [{ const: 'x' }, { type: 'array', items: { $ref: '#/$defs/t' } }] } },
}
const TREE = {
  $ref: '#/$defs/t',
  $defs: {
    t: {
      anyOf: ['p', 'q', 'r'].map((kind) => ({
        type: 'object',
        properties: { kind: { const: kind }, a: { $ref: '#/$defs/t' }, b: { type: 'integer' } },
        required: ['kind'],
      })),
    },
  },
}

/** Every level may be wrapped or not. */
const WRAPPED = {
  $ref: '#/$defs/t',
  $defs: {
    t: {
      anyOf: [
        { type: 'array', items: { $ref: '#/$defs/t' } },
        { type: 'object', properties: { b: { $ref: '#/$defs/t' } }, required: ['b', 'k'] },
        { const: 'x' },
      ],
    },
  },
}

/** Lists in which every item may be a list again, or one of several other things. */
const DEEP_LISTS = {
  anyOf: [
    { type: 'array', items: { $ref: '#/$defs/u' } },
    {
      anyOf: [
        { anyOf: [{ type: 'object' }, { anyOf: [{ $ref: '#/$defs/v' }, { const: 'x' }] }] },
        { type: 'null' },
      ],
    },
  ],
  $defs: {
    u: { oneOf: [{ const: 'x' }, { type: 'array', items: { type: 'object' } }, { type: 'boolean' }] },
    v: {
      anyOf: [
        { type: 'array', items: { anyOf: [{ $ref: '#/$defs/u' }, { const: 'x' }, { $ref: '#/$defs/v' }] } },
        { type: 'object', properties: { name: { enum: ['x', 'y'] } }, required: ['name'] },
        { enum: ['x', 'y'] },
      ],
    },
  },
}

/** A list of lists, or a scalar. */
const LISTS = {
  anyOf: [
    { type: 'boolean' },
    { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    { type: 'object', properties: { k0: { type: 'array', items: { type: 'boolean' } } }, required: ['k0'] },
    { enum: ['x', 'y'] },
  ],
}

/** A union of objects and lists of the same union. */
const DEEP_OBJECTS = {
  type: 'array',
  items: { anyOf: [{ anyOf: [{ $ref: '#/$defs/t' }, { type: 'string' }] }, { type: 'null' }] },
  $defs: {
    t: {
      oneOf: [
        { type: 'array', items: { anyOf: [{ $ref: '#/$defs/u' }, { $ref: '#/$defs/t' }] } },
        { type: 'object', properties: { a: { $ref: '#/$defs/u' } }, required: ['a', 'b'] },
      ],
    },
    u: {
      oneOf: [
        { type: 'array', items: { anyOf: [{ type: 'number' }, { $ref: '#/$defs/v' }] } },
        { type: 'object', properties: { a: { anyOf: [{ $ref: '#/$defs/t' }, { type: 'null' }] } } },
      ],
    },
    v: { anyOf: [{ type: 'integer' }, { type: 'array', items: { $ref: '#/$defs/u' } }] },
  },
}

const TRAP = {
  anyOf: [1, 2].map((maxProperties) => ({
    type: 'object',
    properties: { x: { $ref: '#' } },
    required: ['x'],
    maxProperties,
  })),
}

/** Steps that more than double with the depth. */
function growth(depth: number, schema: AnySchema, text: (depth: number) => string): string | undefined {
  const steps = [depth, 2 * depth].map((levels) => parseCounted(text(levels), schema).steps) as [
    number,
    number,
  ]
  if (steps[1] <= 2.5 * steps[0]) return undefined
  return `${steps[0]} steps for ${depth} levels or motifs, ${steps[1]} for twice as many`
}

/** Pairs that the flaws were first met with; the search begins with them. */
export const known: readonly { readonly name: string; run(): string | undefined }[] = [
  {
    name: 'alternatives that all recurse',
    run: () => growth(8, TRAP, (depth) => `${"{'x':".repeat(depth)}{}${'}'.repeat(depth)}`),
  },
  ...[
    '```json\n{"a":1\n```\n',
    '<think>{"a":</think>',
    '<think>["x} </think>',
    '```json\n{"a":"x\n```\n',
    '<think>/*[3"a":\n```\n',
    "k0:'v',",
    '[/*',
  ].flatMap((motif) =>
    [undefined, { type: 'array', items: { type: 'string' } }, { type: 'object', required: ['z'] }].map(
      (schema) => ({
        name: JSON.stringify(motif),
        run: () => fault({ opening: '', motif, ending: '' }, schema, 8_000),
      }),
    ),
  ),
  {
    name: 'a stream in which reasoning ends again and again',
    run: () => fault({ opening: '', motif: '</think>"a"{a:', ending: '' }, undefined, 200),
  },
  {
    name: 'an escaped body that is read again from inside',
    run: () =>
      fault(
        { opening: '', motif: '{\\"a\\":[/THINK][3//“', ending: '' },
        { type: 'array', items: { type: 'object', required: ['z'] } },
        4_000,
      ),
  },
  {
    name: 'a nullable union',
    run: () =>
      fault(
        { opening: "{'a':[1],", motif: "b:'1',", ending: '}' },
        {
          type: 'object',
          properties: {
            a: { anyOf: [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, { type: 'null' }] },
          },
        },
        100,
      ),
  },
  {
    name: 'a recursive union of which every level may be wrapped',
    run: () => fault({ opening: '', motif: '{b:', ending: '1' }, WRAPPED, 60),
  },
  { name: 'a list of itself', run: () => fault({ opening: '[', motif: '7,', ending: ']' }, RECURSIVE, 100) },
  {
    name: 'a recursive union with one wrong leaf',
    run: () =>
      fault(
        {
          opening: '',
          motif: ' ',
          ending: `${"{kind:'r',a:".repeat(14)}{kind:'r',b:'z'}${'}'.repeat(14)}`,
        },
        TREE,
        20,
      ),
  },
  {
    name: 'comments that begin again and again in one line',
    // Short: no search reaches further than 1,024 characters.
    run: () => growth(70, {}, (count) => `<think>"a":${'｛////'.repeat(count)}“`),
  },
  {
    // Steps do not count searches by the engine's own functions; time does.
    name: 'many fence marks in one line',
    run: () => slowness({ opening: 'x', motif: '```{', ending: '' }, undefined),
  },
  {
    name: 'one word that is longer than any name',
    run: () => slowness({ opening: '｛```json\n', motif: 'null', ending: '' }, LISTS),
  },
  {
    name: 'an unquoted value longer than a stream would scan',
    run: () => fault({ opening: '...+ ', motif: "'x'", ending: '”' }, LISTS, 40_000),
  },
  {
    name: 'a deep list of which every level is tried alone too',
    run() {
      const { steps } = parseCounted(`Answer: ${'[1,'.repeat(100)}`, DEEP_LISTS)
      return steps > 300_000 ? `${steps} steps for 100 levels` : undefined
    },
  },
  {
    name: 'a deep object of which every level may be wrapped in lists',
    run() {
      const { result } = parseCounted('{a:'.repeat(133), DEEP_OBJECTS)
      return result.issues.find(({ code }) => code === 'limit/depth')?.message
    },
  },
  {
    name: 'a deep list that is read again from each of its brackets',
    run() {
      const text = `actually “${',[1,next:~~~null'.repeat(60)}**`
      const { steps } = parseCounted(text, DEEP_LISTS)
      return steps > 300 * text.length ? `${steps} steps for ${text.length} characters` : undefined
    },
  },
  {
    name: 'wrong closers in many open brackets',
    run: () => fault({ opening: "next:k0:'v',", motif: ')[{', ending: 'null' }, RECURSIVE, 200),
  },
  {
    name: 'lines of one space behind an unquoted value',
    run: () => fault({ opening: '"a":**', motif: ' \n', ending: '<a>' }, undefined, 200),
  },
  {
    name: 'many values in a tag that is never closed',
    run: () => fault({ opening: '<tool_call>', motif: '</think>"x"[```', ending: '' }, LISTS, 4_000),
  },
  {
    name: 'many remarks behind an item',
    run: () => fault({ opening: '[[1]', motif: '(aa)', ending: '' }, undefined, 4_000),
  },
  {
    name: 'calls that are never closed',
    run: () => fault({ opening: '', motif: 'f(a=1}', ending: '' }, DEEP_LISTS, 300),
  },
  {
    name: 'arguments in elements that are never closed',
    // Far apart: at most 100 calls are tried.
    run: () =>
      fault(
        { opening: '', motif: `<function_call name="get_a"><a>${' x'.repeat(130)}`, ending: '' },
        LISTS,
        10_000,
      ),
  },
  {
    name: 'line breaks in a key',
    run: () => fault({ opening: '{"a', motif: '\n', ending: '' }, undefined, 20_000),
  },
  {
    name: 'a conversion at the bottom of a recursive union',
    run: () =>
      growth(150, TREE, (depth) => `${"{kind:'r',a:".repeat(depth)}{kind:'r',b:'3'}${'}'.repeat(depth)}`),
  },
  {
    name: 'a text that makes the decoder look far ahead',
    run() {
      const text = `["${'" '.repeat(4_000)}`
      const { steps } = parseCounted(text)
      return steps < 6 * text.length ? `${steps} steps for ${text.length} characters: too few` : undefined
    },
  },
  {
    name: 'strict JSON deeper than the call stack',
    run: () =>
      fault({ opening: '', motif: ' ', ending: '['.repeat(50_000) + ']'.repeat(50_000) }, RECURSIVE, 20),
  },
]

/** The first of the known pairs that shows a fault. */
export function firstKnownFault(): string | undefined {
  for (const { name, run } of known) {
    const what = run()
    if (what !== undefined) return `${name}: ${what}`
  }
  return undefined
}
