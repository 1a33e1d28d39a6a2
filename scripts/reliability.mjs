// @ts-check
/**
 * `npm run reliability -- [T3 …] [--run] [--long] [--json]`: lists the reliability checks with the commands that repeat
 * them. `--run` runs the short form, `--run --long` the long form, of the named checks or of all. Exit code 1 if one fails.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { longCommands, reliabilityTable } from './reliability-table.mjs'
import { root } from './setup.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    run: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const usage = 'Usage: npm run reliability -- [T1…T22] [--run] [--long] [--json]'
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const unknown = positionals.filter((id) => !reliabilityTable.some((check) => check.id === id))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. ${usage}`)
  process.exit(2)
}
const chosen = reliabilityTable
  .filter(({ id }) => positionals.length === 0 || positionals.includes(id))
  .map((check) => ({ ...check, short: `npx vitest run ${check.tests.join(' ')}`, long: longCommands(check) }))

if (!values.run) {
  if (values.json) console.log(JSON.stringify(chosen))
  else
    for (const { id, shows, short, long } of chosen)
      console.log(
        `${id.padEnd(3)}  ${shows}\n     short  ${short}\n${long.map((each) => `     long   ${each}`).join('\n')}`,
      )
  process.exit(0)
}

const commands = [...new Set(chosen.flatMap(({ short, long }) => (values.long ? long : [short])))]
const results = commands.map((command) => {
  const began = performance.now()
  const { status } = spawnSync(command, { cwd: root, shell: true, stdio: values.json ? 'ignore' : 'inherit' })
  return { command, ok: status === 0, seconds: Math.round((performance.now() - began) / 1000) }
})
if (values.json) console.log(JSON.stringify(results))
else
  for (const { command, ok, seconds } of results)
    console.log(`${ok ? 'ok' : 'FAILED'}  ${seconds} s  ${command}`)
process.exit(results.every(({ ok }) => ok) ? 0 : 1)
