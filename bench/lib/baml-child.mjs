/** The child process in which BAML runs, because some texts make it end the process: one JSON line in, one out. */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { NOISE_SCHEMAS } from '../../dist/testing/index.js'
import { toBaml } from './baml-schema.mjs'

const { BamlRuntime } = createRequire(import.meta.url)('@boundaryml/baml')
const sources = NOISE_SCHEMAS.map(({ schema }, index) => toBaml(schema, index))
const runtime = BamlRuntime.fromFiles('.', { 'schemas.baml': sources.filter(Boolean).join('\n') }, {})
const context = runtime.createContextManager()

for await (const line of createInterface({ input: process.stdin })) {
  const { schemaName, text } = JSON.parse(line)
  const index = NOISE_SCHEMAS.findIndex(({ name }) => name === schemaName)
  let answer
  try {
    const value = runtime.parseLlmResponse(`F${index}`, text, false, context, null, null, {})
    answer = { ok: true, value: value === undefined ? null : value }
  } catch {
    answer = { ok: false }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
