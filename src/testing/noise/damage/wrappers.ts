/** Damage by another packaging: inside a wrapper or without one, as JSON inside JSON strings, or item by item. */
import { isObject, type Json } from '../../../base/json.ts'
import { expectsType, isDistinctive, rootForm, rootKeys } from '../shape.ts'
import { findTokenRange, joinTokens, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, embedded, isDocument, isStrict, isText, listSites, pickOrNot } from './outcome.ts'

const ENVELOPE_KEYS = ['result', 'data', 'response', 'output', 'answer']
const TOOL_KEYS = ['name', 'arguments', 'tool_calls', 'function', 'parameters', 'type', 'id']
const FUNCTIONS = ['submit', 'save_result', 'extractData', 'final_answer']

/** Wraps the whole answer; the wrapper itself must not be readable as the answer. */
function wrapper(name: string, keys: readonly string[], apply: Damage['apply']): Damage {
  return {
    name,
    family: 'wrapper',
    slot: 'embed',
    apply(random, sample) {
      if (isText(sample) || sample.open) return undefined
      const own = rootKeys(sample.schema)
      if (keys.some((key) => own.includes(key))) return undefined
      if (isObject(sample.value) && !isDistinctive(sample.schema)) return undefined
      return apply(random, sample)
    },
  }
}

const isToolArguments = (sample: Sample): boolean => rootForm(sample.schema, sample.value) === 'object'

/** The answer inside a wrapper that the schema does not have, or without one that it has. */
export const WRAPPERS: readonly Damage[] = [
  wrapper('wrapper-envelope', ENVELOPE_KEYS, (r, s) =>
    embedded(s, `{"${r.pick(ENVELOPE_KEYS)}": ${s.text}}`),
  ),
  wrapper('wrapper-status', [...ENVELOPE_KEYS, 'status', 'success'], (r, s) =>
    embedded(
      s,
      `{"${r.pick(['status', 'success'])}": ${r.pick(['true', '"ok"'])}, "${r.pick(ENVELOPE_KEYS)}": ${s.text}}`,
    ),
  ),
  wrapper('wrapper-deep', ENVELOPE_KEYS, (_, s) => embedded(s, `{"response": {"data": ${s.text}}}`)),
  wrapper('wrapper-list', [], (_, s) => (isToolArguments(s) ? embedded(s, `[${s.text}]`) : undefined)),
  wrapper('wrapper-tool-calls', TOOL_KEYS, (r, s) => {
    if (!isToolArguments(s)) return undefined
    const call = `{"name": "${r.pick(FUNCTIONS)}", "arguments": ${JSON.stringify(s.text)}}`
    return embedded(s, `{"tool_calls": [{"id": "call_1", "type": "function", "function": ${call}}]}`)
  }),
  wrapper('wrapper-arguments', TOOL_KEYS, (r, s) => {
    if (!isToolArguments(s)) return undefined
    const inner = r.chance() ? s.text : JSON.stringify(s.text)
    return embedded(s, `{"name": "${r.pick(FUNCTIONS)}", "${r.pick(['arguments', 'parameters'])}": ${inner}}`)
  }),
  wrapper('wrapper-call', [], (r, s) =>
    isDocument(s) ? embedded(s, `${r.pick(FUNCTIONS)}(${s.text})${r.pick(['', ';'])}`) : undefined,
  ),
  wrapper('wrapper-pair', [], (r, s) =>
    isToolArguments(s) ? embedded(s, `['${r.pick(FUNCTIONS)}', ${s.text}]`) : undefined,
  ),
  wrapper('wrapper-name-key', FUNCTIONS, (r, s) =>
    isToolArguments(s) ? embedded(s, `{${r.pick(FUNCTIONS)}: ${s.text}}`) : undefined,
  ),
  wrapper('wrapper-name-line', [], (r, s) =>
    isToolArguments(s) ? embedded(s, `${r.pick(FUNCTIONS)}\n${s.text}`) : undefined,
  ),
  wrapper('wrapper-assignment', [], (r, s) =>
    isDocument(s) ? embedded(s, `${r.pick(['result = ', 'const data = ', 'json: '])}${s.text}`) : undefined,
  ),
  {
    name: 'wrapper-missing',
    family: 'wrapper',
    slot: 'embed',
    apply(_random, sample) {
      const keys = rootKeys(sample.schema)
      const key = keys[0]
      if (keys.length !== 1 || key === undefined || !isObject(sample.value) || sample.tokens === undefined)
        return undefined
      const inner = sample.value[key]
      if (!Array.isArray(inner) || inner.length < 2) return undefined
      const start = sample.tokens.findIndex((token) => token.kind === 'open' && token.at === `/${key}`)
      const end = sample.tokens.findIndex((token) => token.kind === 'close' && token.at === `/${key}`)
      if (start < 0 || end < 0) return undefined
      return embedded(
        sample,
        sample.tokens
          .slice(start, end + 1)
          .map((token) => token.text)
          .join(''),
      )
    },
  },
]

function whole(name: string, encode: (sample: Sample) => string | undefined): Damage {
  return {
    name,
    family: 'encoding',
    slot: 'embed',
    apply(_random, sample) {
      if (isText(sample) || sample.open) return undefined
      const text = encode(sample)
      return text === undefined ? undefined : embedded(sample, text)
    },
  }
}

/** Writes one list or object of the document as a JSON string. */
function field(
  name: string,
  wanted: 'array' | 'object',
  encode: (text: string, sample: Sample) => string | undefined,
): Damage {
  return {
    name,
    family: 'encoding',
    slot: 'value',
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined) return undefined
      const sites = listSites(sample).filter(
        (site) =>
          site.at !== '' &&
          expectsType(site, wanted) &&
          (Array.isArray(site.value) ? site.value.length > 0 : isObject(site.value)),
      )
      const site = pickOrNot(random, sites)
      const range = site && findTokenRange(tokens, site.at)
      if (!site || !range || tokens.slice(...range).some((token) => token.touched)) return undefined
      const text = encode(joinTokens(tokens.slice(...range)), { ...sample, value: site.value })
      if (text === undefined) return undefined
      const token: Token = { kind: 'string', text, at: site.at, touched: true }
      return edited(sample, [...tokens.slice(0, range[0]), token, ...tokens.slice(range[1])])
    },
  }
}

/** JSON inside JSON strings, at the root or in a field. */
export const ENCODINGS: readonly Damage[] = [
  whole('encoded-twice', (s) => JSON.stringify(s.text)),
  whole('encoded-thrice', (s) => JSON.stringify(JSON.stringify(s.text))),
  whole('encoded-fenced', (s) => `\`\`\`json\n${JSON.stringify(s.text)}\n\`\`\``),
  whole('escaped-quotes', (s) =>
    isDocument(s) && isStrict(s.text) && !/\\/.test(s.text) ? s.text.replaceAll('"', '\\"') : undefined,
  ),
  whole('escaped-body', (s) =>
    isDocument(s) && isStrict(s.text) ? JSON.stringify(s.text).slice(1, -1) : undefined,
  ),
  field('field-encoded-object', 'object', (text) => JSON.stringify(text)),
  field('field-encoded-list', 'array', (text) => JSON.stringify(text)),
  field('field-python-list', 'array', (_text, site) => {
    const items = site.value
    if (
      !Array.isArray(items) ||
      !items.every((item) => typeof item === 'string' && /^[\p{L} ]+$/u.test(item))
    )
      return undefined
    return JSON.stringify(`[${items.map((item) => `'${item}'`).join(', ')}]`)
  }),
]

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

/** The items of a list written one by one, without the list around them. */
export const SEVERAL: readonly Damage[] = [
  separate('items-by-line', (items) => items.join('\n')),
  separate('items-by-comma', (items) => items.join(',\n')),
  separate('items-adjacent', (items) => items.join(' ')),
  separate('items-in-fences', (items) => items.map((item) => `\`\`\`json\n${item}\n\`\`\``).join('\n\n')),
  separate('items-in-prose', (items) => items.map((item, i) => `Item ${i + 1}: ${item}`).join('\n\n')),
  separate('items-in-tags', (items) => items.map((item) => `<item>${item}</item>`).join('\n')),
  separate('items-in-bullets', (items) => items.map((item) => `- ${item}`).join('\n')),
]
