/** Damage by wrapping: the answer inside a wrapper that the schema does not have, or without one that it has. */
import { isObject } from '../../../base/json.ts'
import { isDistinctive, rootForm, rootKeys } from '../shape.ts'
import type { Damage, Sample } from '../types.ts'
import { embedded, isDocument, isText } from './outcome.ts'

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
