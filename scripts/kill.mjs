// @ts-check
/**
 * `npm run kill -- --store sqlite|postgres --kills N [--seed S] [--json]`: kills real processes, and checks the store they
 * leave. `--loop` kills the process of an agent with tools, at every point of its run.
 */
import { compile } from './compile.mjs'

const folder = process.argv.includes('--loop') ? 'test/tools/killed' : 'test/kill'
const { programs, dispose } = await compile({ child: `${folder}/child.ts`, main: `${folder}/main.ts` })
try {
  const { main } = await import(programs.main)
  process.exitCode = await main(programs.child, process.argv.slice(2))
} finally {
  dispose()
}
