/** The page of slips: prints it, or writes it to docs/slips.md with `--write`; `--json` prints the answers as data. */
import { writeFileSync } from 'node:fs'
import { slips } from './slips/cases.mjs'
import { askLibraries } from './slips/libraries.mjs'
import { slipsPage } from './slips/page.mjs'

const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => flag !== '--write' && flag !== '--json')
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Flags: --write --json`)
  process.exit(2)
}
const libraries = await askLibraries(slips)
const page = slipsPage(slips, libraries)
if (flags.includes('--write')) writeFileSync(new URL('../docs/slips.md', import.meta.url), page)
if (flags.includes('--json')) console.log(JSON.stringify(libraries))
else console.log(page)
