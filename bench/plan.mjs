/** The bench of planning and proving: `npm run bench -- plan [--quick] [--json]`. It has no peers: no other library proves plans. */
import { cpus } from 'node:os'
import { proving, showProving } from './sections/prove.mjs'
import { searching, showSearching } from './sections/search.mjs'

const args = process.argv.slice(2)
const unknown = args.filter((arg) => !['--quick', '--json'].includes(arg))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Flags: --quick --json`)
  process.exit(2)
}
const quick = args.includes('--quick')
const machine = `Node ${process.version} on ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`
const prove = await proving({ quick })
const search = await searching({ quick })
if (args.includes('--json')) {
  console.log(JSON.stringify({ machine, date: new Date().toISOString().slice(0, 10), quick, prove, search }))
} else {
  console.log(`${machine}\n\n${showProving(prove)}\n\n${showSearching(search)}`)
}
