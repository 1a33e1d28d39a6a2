// @ts-check
/**
 * `npm run kill -- --store sqlite|postgres --kills N [--seed S] [--json]`: kills real processes, and checks the store they
 * leave. `--loop` kills the process of an agent with tools, at every point of its run. `--queue local|restate` kills the
 * workers, API and servers of a whole installation.
 */
import { compile } from './compile.mjs'
import { root, staleBuild } from './setup.mjs'

const args = process.argv.slice(2)
const isFleet = args.some((arg) => arg === '--queue' || arg.startsWith('--queue='))
if (isFleet) await killFleet()
else await killProcesses()

async function killProcesses() {
  const folder = args.includes('--loop') ? 'test/tools/killed' : 'test/kill'
  const { programs, dispose } = await compile({ child: `${folder}/child.ts`, main: `${folder}/main.ts` })
  try {
    const { main } = await import(programs.main)
    process.exitCode = await main(programs.child, args)
  } finally {
    dispose()
  }
}

/** The processes are those of the built command. */
async function killFleet() {
  const stale = staleBuild('build')
  if (stale !== undefined) throw new Error(`${stale}: run \`npm run build\` first`)
  const { programs, dispose } = await compile({ main: 'test/queues/main.ts' })
  try {
    const { main } = await import(programs.main)
    process.exitCode = await main(root, args)
  } finally {
    dispose()
  }
}
