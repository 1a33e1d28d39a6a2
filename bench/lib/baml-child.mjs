/** The child process in which BAML runs, because some texts make it end the process: a line with the schemas first, then one JSON line in, one out. */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { toBaml } from './baml-schema.mjs'

const { BamlRuntime } = createRequire(import.meta.url)('@boundaryml/baml')
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const schemas = JSON.parse((await lines.next()).value)
const sources = schemas.map(({ schema }, index) => toBaml(schema, index))
const runtime = BamlRuntime.fromFiles('.', { 'schemas.baml': sources.filter(Boolean).join('\n') }, {})
const context = runtime.createContextManager()

for await (const line of lines) {
  const { schemaName, text } = JSON.parse(line)
  const index = schemas.findIndex(({ name }) => name === schemaName)
  let answer
  try {
    const value = runtime.parseLlmResponse(`F${index}`, text, false, context, null, null, {})
    answer = { ok: true, value: value === undefined ? null : value }
  } catch (error) {
    answer = { ok: false, reason: reasonOf(String(error?.message ?? error)) }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

/** The outermost reason: the message nests one for every part of the type. */
function reasonOf(message) {
  const [, reason] = /reason: "([^"]+)"/.exec(message) ?? []
  return reason === undefined ? message.split('\n')[0] : `BamlError: ${reason}`
}
