// @ts-check
/**
 * `npm start`: installs and builds what is missing, then shows the reader at work on texts that models really write.
 * It will start the server once there is one.
 */

import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { samples } from './start-samples.mjs'

ensureInstalled()
ensureBuilt()

const { explain, parse } = await import('proviso/output')

const colored = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
/** @param {number} code @param {string} text */
const paint = (code, text) => (colored ? `\u001b[${code}m${text}\u001b[0m` : text)
/** @param {string} text */
const indent = (text) => text.replaceAll(/^(?=.)/gm, '  ')

console.log(`\n${paint(1, 'Proviso reads whatever a model writes into JSON that satisfies a schema.')}`)

for (const [index, { title, text, schema }] of samples.entries()) {
  const result = parse(text, schema)
  console.log(`\n${paint(1, `${index + 1}. ${title}`)}`)
  console.log(paint(2, indent(text)))
  console.log(result.ok ? paint(32, indent(JSON.stringify(result.value))) : paint(31, indent('no value')))
  console.log(indent(explain(result)))
}

console.log(`
${paint(1, 'Try it yourself:')}
  echo 'Sure: {name: "Ada", age: 36,}' | npx proviso parse
  echo "{'ok': True, 'n': 1_000" | npx proviso parse --json
  npx proviso parse --help
  npm test
Read on in README.md, examples/ and docs/reference/output.md.
`)
