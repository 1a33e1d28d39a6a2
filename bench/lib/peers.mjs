/** The peers, each as a function from text to value that throws when it gives up. What each is built for is in docs/benchmarks.md. */
import { parsePartialJson } from 'ai'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { parse as bestEffort, disableErrorLogging } from 'best-effort-json-parser'
import JSON5 from 'json5'
import { jsonrepair } from 'jsonrepair'
import { jsonrepair as jsonrepair314 } from 'jsonrepair-3.14'
import { parse as partialJson } from 'partial-json'

disableErrorLogging()

export const peers = {
  'JSON.parse': JSON.parse,
  'jsonrepair 3.15.0': (text) => JSON.parse(jsonrepair(text)),
  'jsonrepair 3.14.0': (text) => JSON.parse(jsonrepair314(text)),
  'json5 2.2.3': (text) => quietly(() => JSON5.parse(text)),
  'partial-json 0.1.7': (text) => partialJson(text),
  'best-effort-json-parser 1.5.1': (text) => bestEffort(text),
  'ai 6 parsePartialJson': async (text) => {
    const { value, state } = await parsePartialJson(text)
    if (state !== 'successful-parse' && state !== 'repaired-parse') throw new Error(state)
    return value
  },
}

const validators = new Map()

/** Compiled once per schema, without coercion: a peer's value counts when it satisfies the schema unchanged. */
export function validator(schema) {
  let validate = validators.get(schema)
  if (validate === undefined) {
    const ajv = String(schema?.$schema).includes('draft-07')
      ? new Ajv({ strict: false })
      : new Ajv2020({ strict: false })
    ;(formats.default ?? formats)(ajv)
    try {
      validate = ajv.compile(schema)
    } catch {
      validate = () => false
    }
    validators.set(schema, validate)
  }
  return validate
}

/** What a careful caller does before such a library: the fenced block if there is one, else from the first bracket to the last. */
export function extract(text) {
  const fence = text.indexOf('```')
  if (fence >= 0) {
    const start = text.indexOf('\n', fence) + 1
    const end = text.indexOf('```', start)
    if (start > 0) return text.slice(start, end < 0 ? undefined : end).trim()
  }
  const first = text.search(/[[{]/)
  const last = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  return first >= 0 && last > first ? text.slice(first, last + 1) : text
}

/** One peer warns about line separators; that is not what is measured. */
function quietly(run) {
  const { warn } = console
  console.warn = () => {}
  try {
    return run()
  } finally {
    console.warn = warn
  }
}
