/** Notations that models use for several tool calls in one text. */
import { isObject, type Json } from '../../../base/json.ts'
import type { Random } from '../random.ts'

export interface Call {
  readonly name: string
  readonly arguments: { readonly [key: string]: Json }
}

export interface Notation {
  readonly name: string
  /** The calls are the items of one list; ambiguous where the schema expects one call. */
  readonly list?: true
  /** The text is one JSON value. */
  readonly single?: true
  write(calls: readonly Call[], random: Random): string
}

const json = (value: unknown): string => JSON.stringify(value)
const between = (random: Random): string => random.pick(['\n', '\n\n'])

function each(name: string, write: (call: Call, random: Random) => string): Notation {
  return {
    name,
    write: (calls, random) => {
      const seam = between(random)
      return calls.map((call) => write(call, random)).join(seam)
    },
  }
}

/** Writes a value as Python does. */
function python(value: Json): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map((item) => python(item as Json)).join(', ')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, item]) => `${json(key)}: ${python(item as Json)}`)
      .join(', ')}}`
  return json(value)
}

const keywords = (call: Call): string =>
  `${call.name}(${Object.entries(call.arguments)
    .map(([key, value]) => `${key}=${python(value)}`)
    .join(', ')})`

const asFunction = (call: Call, index: number) => ({
  id: `call_${index + 1}`,
  type: 'function',
  function: { name: call.name, arguments: json(call.arguments) },
})

/** Writes calls as objects with name and arguments. */
export const PLAIN_NOTATIONS: readonly Notation[] = [
  each('call-tags', (call) => `<tool_call>\n${json(call)}\n</tool_call>`),
  each(
    'call-tags-encoded',
    ({ name, arguments: args }) => `<tool_call>\n${json({ name, arguments: json(args) })}\n</tool_call>`,
  ),
  each('call-tags-open', (call) => `<tool_call>\n${json(call).slice(0, -1)}\n</tool_call>`),
  each('call-lines', (call) => json(call)),
  { name: 'call-semicolons', write: (calls) => calls.map(json).join('; ') },
  {
    name: 'call-list',
    list: true,
    single: true,
    write: (calls, random) => json(calls) + random.pick(['', '\n']),
  },
  { name: 'call-list-marked', list: true, write: (calls) => `[TOOL_CALLS] ${json(calls)}` },
  { name: 'call-list-tagged', list: true, write: (calls) => `<tool_calls>\n${json(calls)}\n</tool_calls>` },
  {
    name: 'call-message',
    list: true,
    single: true,
    write: (calls) => json({ role: 'assistant', content: null, tool_calls: calls.map(asFunction) }),
  },
  { name: 'call-functions', list: true, single: true, write: (calls) => json(calls.map(asFunction)) },
  mixed('call-mixed', [
    json,
    (call) => `<tool_call>\n${json(call)}\n</tool_call>`,
    (call) => `\`\`\`json\n${json(call)}\n\`\`\``,
  ]),
  each('call-fences', (call) => `\`\`\`json\n${json(call)}\n\`\`\``),
  each('call-lists-tagged', (call) => `<tool_call>\n${json([call])}\n</tool_call>`),
  {
    name: 'call-prose',
    write: (calls, random) =>
      calls
        .map(
          (call, index) =>
            `${index === 0 ? 'First' : random.pick(['Then', 'Next'])}, I call ${call.name}:\n${json(call)}`,
        )
        .join('\n\n'),
  },
]

/** Writes consecutive calls in different notations. */
function mixed(name: string, writers: readonly ((call: Call) => string)[]): Notation {
  return {
    name,
    write: (calls, random) => {
      const first = random.int(0, writers.length - 1)
      return calls.map((call, i) => writers[(first + i) % writers.length]?.(call)).join(between(random))
    },
  }
}

/** Notations with the name outside the arguments, or under another key than in the schema. */
export const NAMED_NOTATIONS: readonly Notation[] = [
  each('call-parameters', ({ name, arguments: args }) => json({ name, parameters: args })),
  {
    name: 'call-parameters-semicolons',
    write: (calls) =>
      `<|python_tag|>${calls.map(({ name, arguments: args }) => json({ name, parameters: args })).join('; ')}`,
  },
  {
    name: 'call-tool-use',
    list: true,
    single: true,
    write: (calls) =>
      json(
        calls.map(({ name, arguments: input }, index) => ({
          type: 'tool_use',
          id: `toolu_${index}`,
          name,
          input,
        })),
      ),
  },
  each('call-round', ({ name, arguments: args }) => `${name}(${json(args)})`),
  each('call-braces', ({ name, arguments: args }) => `${name}${json(args)}`),
  each('call-name-line', ({ name, arguments: args }) => `${name}\n${json(args)}`),
  each('call-name-fence', ({ name, arguments: args }) => `${name}\n\`\`\`json\n${json(args)}\n\`\`\``),
  each('call-marked-arguments', ({ name, arguments: args }) => `[TOOL_CALLS]${name}[ARGS]${json(args)}`),
  each('call-marked-braces', ({ name, arguments: args }) => `[TOOL_CALLS]${name}${json(args)}`),
  each(
    'call-function-tag-open',
    ({ name, arguments: args }) => `<function=${name}>${json(args).slice(0, -1)}</function>`,
  ),
  each('call-function-tag', ({ name, arguments: args }) => `<function=${name}>${json(args)}</function>`),
  each('call-action', ({ name, arguments: args }) => `Action: ${name}\nAction Input: ${json(args)}`),
  each(
    'call-special-tokens',
    ({ name, arguments: args }) =>
      `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json(args)}\n\`\`\`<｜tool▁call▁end｜>`,
  ),
  {
    name: 'call-name-keys',
    list: true,
    single: true,
    write: (calls) => json(calls.map(({ name, arguments: args }) => ({ [name]: args }))),
  },
  each('call-name-key-lines', ({ name, arguments: args }) => json({ [name]: args })),
  {
    name: 'call-pairs',
    list: true,
    single: true,
    write: (calls) => json(calls.map(({ name, arguments: args }) => [name, args])),
  },
  each('call-keywords', keywords),
  { name: 'call-keywords-list', list: true, write: (calls) => `[${calls.map(keywords).join(', ')}]` },
  each('call-keywords-tagged', (call) => `<tool_call>\n${keywords(call)}\n</tool_call>`),
  {
    name: 'call-keywords-fence',
    write: (calls) => `\`\`\`python\n${calls.map(keywords).join('\n')}\n\`\`\``,
  },
]

/** Writes the value of an argument as the content of an element: texts as they are, everything else as JSON. */
const content = (value: Json): string => (typeof value === 'string' ? value : json(value))

const elements = (args: Call['arguments'], write: (key: string, value: string) => string): string[] =>
  Object.entries(args).map(([key, value]) => write(key, content(value)))

/** Writes the arguments as XML elements. Their values are texts, and only a schema with types distinguishes `3` from `"3"`. */
export const XML_NOTATIONS: readonly Notation[] = [
  each(
    'call-invoke',
    ({ name, arguments: args }) =>
      `<invoke name="${name}">\n${elements(args, (key, value) => `<parameter name="${key}">${value}</parameter>`).join('\n')}\n</invoke>`,
  ),
  {
    name: 'call-function-calls',
    write: (calls) =>
      `<function_calls>\n${calls
        .map(
          ({ name, arguments: args }) =>
            `<invoke name="${name}">${elements(args, (key, value) => `<parameter name="${key}">${value}</parameter>`).join('')}</invoke>`,
        )
        .join('\n')}\n</function_calls>`,
  },
  each(
    'call-parameter-lines',
    ({ name, arguments: args }) =>
      `<tool_call>\n<function=${name}>\n${elements(args, (key, value) => `<parameter=${key}>\n${value}\n</parameter>`).join('\n')}\n</function>\n</tool_call>`,
  ),
  each(
    'call-key-elements',
    ({ name, arguments: args }) =>
      `<tool_call>${name}\n${elements(args, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>`).join('\n')}\n</tool_call>`,
  ),
  each(
    'call-plain-elements',
    ({ name, arguments: args }) =>
      `<function_call name="${name}">\n${elements(args, (key, value) => `<${key}>${value}</${key}>`).join('\n')}\n</function_call>`,
  ),
]
