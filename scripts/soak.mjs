// @ts-check
/**
 * `npm run soak -- [--store sqlite|postgres] [--workers N] [--minutes N] [--faults SHARE] [--json]`: uses a server, or an API and
 * workers, for long under faults, and measures whether they grow.
 */
import { compile } from './compile.mjs'
import { root, staleBuild } from './setup.mjs'

const stale = staleBuild('build')
if (stale !== undefined) throw new Error(`${stale}: run \`npm run build\` first`)
const { programs, dispose } = await compile({ main: 'test/soak/main.ts' })
try {
  const { main } = await import(programs.main)
  process.exitCode = await main(root, process.argv.slice(2))
} finally {
  dispose()
}
