/** What each library makes of the slips, used as its documentation says. */
import {
  extractJsonMiddleware,
  extractReasoningMiddleware,
  generateText,
  jsonSchema,
  Output,
  wrapLanguageModel,
} from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { jsonrepair } from 'jsonrepair'
import { parse } from '../../dist/output/index.js'
import { readWithBaml, withoutNulls } from '../lib/baml.mjs'
import { extract, peers, validator } from '../lib/peers.mjs'
import { ownAnswer } from './own-answer.mjs'
import { verdict } from './page.mjs'

export async function askLibraries(slips) {
  const libraries = [{ name: 'Proviso', answers: slips.map((slip) => ownAnswer(parse, slip)) }]
  libraries.push({ name: 'BAML 0.226.2', answers: await withBaml(slips) })
  libraries.push({ name: 'AI SDK 6.0.326', answers: await withAiSdk(slips, (text) => text) })
  libraries.push({ name: 'AI SDK 6.0.326 with jsonrepair', answers: await withAiSdk(slips, jsonrepair) })
  for (const [name, read] of Object.entries(peers)) {
    if (name === 'jsonrepair 3.14.0') continue
    const answers = []
    for (const slip of slips) answers.push(await better(slip, read))
    libraries.push({ name: `${name} + Ajv`, answers })
  }
  return libraries
}

/** The better of two ways to call a library that does not look for a value itself. */
async function better(slip, read) {
  const asItCame = await answer(() => read(slip.text), slip.schema)
  const extracted = await answer(() => read(extract(slip.text)), slip.schema)
  const order = ['right', 'refused', 'wrong']
  return order.indexOf(verdict(slip, extracted)) < order.indexOf(verdict(slip, asItCame))
    ? extracted
    : asItCame
}

async function answer(read, schema) {
  try {
    return checked(await read(), schema)
  } catch (error) {
    return { ok: false, reason: firstLine(error) }
  }
}

function checked(value, schema) {
  const validate = validator(schema)
  if (value !== undefined && validate(value)) return { ok: true, value }
  const [first] = validate.errors ?? []
  const why = first ? `${first.instancePath || 'the root'} ${first.message}` : 'no value'
  return { ok: false, reason: `Ajv: ${why}` }
}

async function withBaml(slips) {
  const schemas = slips.map(({ schema }, i) => ({ name: String(i), schema }))
  const samples = slips.map(({ text }, i) => ({ schemaName: String(i), text }))
  const answers = await readWithBaml(samples, schemas)
  if (answers === undefined) throw new Error('BAML cannot be started')
  return answers.map((one, i) => {
    const { schema } = slips[i]
    if (one.ok) return checked(withoutNulls(schema, one.value), schema)
    return { ok: false, reason: one.crashed ? 'the process ended' : (one.reason ?? 'refused') }
  })
}

async function withAiSdk(slips, transform) {
  const answers = []
  for (const { text, schema } of slips) {
    const model = wrapLanguageModel({
      model: new MockLanguageModelV3({ doGenerate: async () => generated(text) }),
      middleware: [
        extractJsonMiddleware({ transform: (found) => transform(withoutFence(found)) }),
        extractReasoningMiddleware({ tagName: 'think' }),
      ],
    })
    const validate = (value) => {
      const result = checked(value, schema)
      return result.ok ? { success: true, value } : { success: false, error: new Error(result.reason) }
    }
    try {
      const output = Output.object({ schema: jsonSchema(schema, { validate }) })
      const result = await generateText({ model, output, prompt: 'answer' })
      answers.push({ ok: true, value: result.output })
    } catch (error) {
      const cause = error?.cause?.cause ?? error?.cause ?? error
      answers.push({ ok: false, reason: firstLine(cause) })
    }
  }
  return answers
}

/** What `extractJsonMiddleware` does without a transform of its own. */
function withoutFence(text) {
  return text
    .replace(/^```(?:json)?\s*\n?/, '')
    .replace(/\n?```\s*$/, '')
    .trim()
}

function generated(text) {
  return {
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }
}

function firstLine(error) {
  return String(error?.message ?? error).split('\n')[0]
}
