/** BAML over a corpus, in a child that is started again when a text ends it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('./baml-child.mjs', import.meta.url))

/** Answers in the order of the samples; a sample that ended the process is `{ ok: false, crashed: true }`. `schemas` are `{ name, schema }`. */
export async function readWithBaml(samples, schemas) {
  const answers = []
  let idle = 0
  while (answers.length < samples.length && idle < 3) {
    const before = answers.length
    await batch(samples.slice(before), schemas, answers)
    // The process ended before its work was done: the next text did that.
    if (answers.length < samples.length) answers.push({ ok: false, crashed: true })
    idle = answers.length === before + 1 ? idle + 1 : 0
  }
  return answers.length === samples.length ? answers : undefined
}

function batch(samples, schemas, answers) {
  return new Promise((resolve) => {
    const process_ = spawn(process.execPath, [child], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, BAML_LOG: 'off', SCARF_ANALYTICS: 'false' },
    })
    process_.stdin.on('error', () => {})
    createInterface({ input: process_.stdout }).on('line', (line) => answers.push(JSON.parse(line)))
    process_.on('close', resolve)
    process_.stdin.write(`${JSON.stringify(schemas.map(({ name, schema }) => ({ name, schema })))}\n`)
    for (const { schemaName, text } of samples)
      process_.stdin.write(`${JSON.stringify({ schemaName, text })}\n`)
    process_.stdin.end()
  })
}

/** BAML says null for what is absent: optional members that are null count as absent, on both sides. */
export function withoutNulls(schema, value, root = schema) {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(schema?.items, item, root))
  if (typeof value !== 'object' || value === null) return value
  const node = resolve(schema, value, root)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, one]) => one !== null || !node?.properties?.[key] || node.required?.includes(key))
      .map(([key, one]) => [
        key,
        withoutNulls(node?.properties?.[key] ?? node?.additionalProperties, one, root),
      ]),
  )
}

function resolve(schema, value, root) {
  if (schema?.$ref) {
    const target = schema.$ref.slice(2).split('/')
    return resolve(
      target.reduce((at, key) => at?.[key], root),
      value,
      root,
    )
  }
  const union = schema?.anyOf ?? schema?.oneOf
  return union ? union.find((branch) => Object.keys(value).every((key) => branch.properties?.[key])) : schema
}
