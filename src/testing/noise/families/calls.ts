/** Several calls in one text, where the schema expects a list of calls, a list of arguments, or one call. */
import type { Json } from '../../../base/json.ts'
import type { JsonSchema } from '../../../schema/compile/compile.ts'
import type { Random } from '../random.ts'
import { array, flag, number, object, oneOfWords, text, whole } from '../schemas/build.ts'
import type { Layer, NoiseFamily, Passage } from '../types.ts'
import { email, list, money, name, plain, prose, word } from '../words.ts'
import {
  type Call,
  NAMED_NOTATIONS,
  type Notation,
  PLAIN_NOTATIONS,
  XML_NOTATIONS,
} from './call-notations.ts'
import { applyAll, draft, encode, fence, mark, talk, windows, wrap } from './layers.ts'

interface Tool {
  readonly name: string
  readonly schema: Exclude<JsonSchema, boolean>
  make(random: Random): Call['arguments']
}

/** Tools whose arguments cannot be confused with those of another. */
const TOOLS: readonly Tool[] = [
  {
    name: 'get_weather',
    schema: object({ city: text, days: whole }),
    make: (r) => ({ city: name(r), days: r.int(1, 14) }),
  },
  {
    name: 'sendMail',
    schema: object({ to: text, subject: text, urgent: flag }, { optional: ['urgent'] }),
    make: (r) => ({ to: email(r), subject: prose(r), ...(r.chance() ? { urgent: r.chance() } : {}) }),
  },
  {
    name: 'web.search',
    schema: object(
      { query: text, limit: whole, filters: object({ languages: array(text) }) },
      { optional: ['filters'] },
    ),
    make: (r) => ({
      query: prose(r),
      limit: r.int(1, 50),
      ...(r.chance() ? { filters: { languages: list(r, [1, 2], () => r.pick(['de', 'fr'])) } } : {}),
    }),
  },
  {
    name: 'convert_currency',
    schema: object({ amount: number, from_currency: text, to_currency: text }),
    make: (r) => ({ amount: money(r), from_currency: word(r), to_currency: word(r) }),
  },
  {
    name: 'add_items',
    schema: object({ items: array(text), note: { type: ['string', 'null'] } }),
    make: (r) => ({ items: list(r, [1, 3], () => plain(r)), note: r.chance() ? null : plain(r) }),
  },
]

const anyCall = object({ name: text, arguments: { type: 'object' } }, { open: true })

function callSchema(random: Random, tools: readonly Tool[]): Exclude<JsonSchema, boolean> {
  return random.pick([
    anyCall,
    object({ name: oneOfWords(...tools.map((tool) => tool.name)), arguments: { type: 'object' } }),
    {
      anyOf: tools.map((tool) => object({ name: { const: tool.name }, arguments: tool.schema })),
    },
  ])
}

function drawCalls(random: Random, tools: readonly Tool[], most: number): Call[] {
  return list(random, [2, most], () => {
    const tool = random.pick(tools)
    return { name: tool.name, arguments: tool.make(random) }
  })
}

const asJson = (calls: readonly Call[]): Json => calls as unknown as Json

interface Wanted {
  readonly schemaName: string
  readonly schema: JsonSchema
  readonly value: Json
  readonly decoy: Json
}

/** Writes calls in a notation, with the layers that the notation allows. */
function passage(
  random: Random,
  wanted: Wanted,
  notation: Notation,
  calls: readonly Call[],
): Passage | undefined {
  const written: Passage = {
    ...wanted,
    text: notation.write(calls, random),
    single: notation.single ?? false,
    kinds: [notation.name],
    encoded: 0,
  }
  const choices: Layer[][] = [[], [], [], [talk], [draft], [windows], [mark], [talk, windows]]
  if (notation.single) choices.push([fence], [encode], [wrap], [encode, fence], [wrap, encode])
  const made = applyAll(random, written, random.pick(choices))
  return made !== undefined && JSON.stringify(wanted.value) !== made.text.trim() ? made : undefined
}

/** Returns whether no string contains fences, tags or backslashes: other families test them, and here they would hide the end of a call. */
const isClear = (calls: readonly Call[]): boolean =>
  !/```|<\/?think|\\/.test(JSON.stringify(calls).replaceAll('\\"', ''))

function callsFamily(family: string, notations: readonly Notation[]): NoiseFamily {
  return {
    name: family,
    make(random) {
      const tools = random.some(TOOLS, random.int(1, 3))
      const calls = drawCalls(random, tools, 4)
      if (!isClear(calls)) return undefined
      const schema = array(callSchema(random, tools))
      const wanted = {
        schemaName: 'calls',
        schema,
        value: asJson(calls),
        decoy: asJson(drawCalls(random, tools, 2)),
      }
      if (random.chance(0.08)) return noCall(random, wanted, tools)
      return passage(random, wanted, random.pick(notations), calls)
    },
  }
}

/** A text that mentions tools without a call. */
function noCall(random: Random, wanted: Wanted, tools: readonly Tool[]): Passage {
  const tool = random.pick(tools)
  const keys = Object.keys(tool.make(random))
  const written = random.pick([
    `I would call ${tool.name}, but I do not know its ${keys.join(' and ')}.`,
    `The tool ${tool.name}() needs ${keys.map((key) => `"${key}"`).join(', ')} [1]. What should I use?`,
    `Which of ${tools.map((one) => one.name).join(' and ')} should I use? Please say more about {it}.`,
  ])
  return { ...wanted, value: undefined, text: written, single: false, kinds: ['no-call'], encoded: 0 }
}

const ARGUMENTS: NoiseFamily = {
  name: 'several calls, a list of arguments wanted',
  make(random) {
    const tools = random.some(TOOLS, 1)
    const calls = drawCalls(random, tools, 4)
    if (!isClear(calls) || tools[0] === undefined) return undefined
    const value = calls.map((call) => call.arguments) as unknown as Json
    const decoy = drawCalls(random, tools, 2).map((call) => call.arguments) as unknown as Json
    const wanted = { schemaName: `${tools[0].name}-list`, schema: array(tools[0].schema), value, decoy }
    if (random.chance(0.08)) return noCall(random, wanted, tools)
    return passage(random, wanted, random.pick([...PLAIN_NOTATIONS, ...NAMED_NOTATIONS]), calls)
  },
}

/** The first match is the answer, as for every value that occurs several times in a text. */
const SINGLE: NoiseFamily = {
  name: 'several calls, one wanted',
  make(random) {
    const tools = random.some(TOOLS, random.int(1, 3))
    const calls = drawCalls(random, tools, 3)
    if (!isClear(calls)) return undefined
    const separate = (notation: Notation): boolean => !notation.list
    const [first] = calls as [Call]
    if (random.chance(0.4)) {
      const schema = callSchema(random, tools)
      const decoy = asJson(drawCalls(random, tools, 2).slice(0, 1))
      const wanted = {
        schemaName: 'call',
        schema,
        value: first as unknown as Json,
        decoy: (decoy as Json[])[0] as Json,
      }
      if (random.chance(0.2)) return noCall(random, wanted, tools)
      return passage(
        random,
        wanted,
        random.pick([...PLAIN_NOTATIONS, ...NAMED_NOTATIONS].filter(separate)),
        calls,
      )
    }
    const tool = random.pick(tools)
    const value = calls.find((call) => call.name === tool.name)?.arguments
    if (value === undefined) return undefined
    const wanted = {
      schemaName: tool.name,
      schema: tool.schema,
      value: value as Json,
      decoy: tool.make(random) as Json,
    }
    return passage(
      random,
      wanted,
      random.pick([...PLAIN_NOTATIONS, ...NAMED_NOTATIONS].filter(separate)),
      calls,
    )
  },
}

/** Null and texts that begin or end with a tag, a quote or white space are ambiguous in an element. */
const isClearInXml = (calls: readonly Call[]): boolean =>
  isClear(calls) &&
  !/[<>&]|:null/.test(JSON.stringify(calls)) &&
  !/:"(?:[\\[{"'\s]|\d+")/.test(JSON.stringify(calls))

/** One of the calls or all of them, and their arguments alone; the schema has the types of the arguments. */
const XML: NoiseFamily = {
  name: 'calls written as XML',
  make(random) {
    const tools = random.some(TOOLS, random.int(1, 3))
    const calls = drawCalls(random, tools, 3)
    const [first] = calls as [Call]
    if (!isClearInXml(calls)) return undefined
    const call = {
      anyOf: tools.map((tool) => object({ name: { const: tool.name }, arguments: tool.schema })),
    }
    const own = tools.find((tool) => tool.name === first.name) as Tool
    const decoy = { name: own.name, arguments: own.make(random) } as unknown as Json
    const wanted = random.pick<Wanted>([
      { schemaName: 'calls', schema: array(call), value: asJson(calls), decoy },
      { schemaName: 'call', schema: call, value: first as unknown as Json, decoy },
      { schemaName: own.name, schema: own.schema, value: first.arguments as Json, decoy: own.make(random) },
    ])
    if (random.chance(0.12)) return noCall(random, wanted, tools)
    return passage(random, wanted, random.pick(XML_NOTATIONS), calls)
  },
}

export const CALL_FAMILIES: readonly NoiseFamily[] = [
  callsFamily('several calls as objects, a list of calls wanted', PLAIN_NOTATIONS),
  callsFamily('several calls in other notations, a list of calls wanted', NAMED_NOTATIONS),
  ARGUMENTS,
  SINGLE,
  XML,
]
