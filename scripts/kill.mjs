// @ts-check
/** `npm run kill -- --store sqlite|postgres --kills N [--seed S] [--json]`: kills real processes, and checks the store they leave. */
import { compile } from './compile.mjs'

const { programs, dispose } = await compile({ child: 'test/kill/child.ts', main: 'test/kill/main.ts' })
try {
  const { main } = await import(programs.main)
  process.exitCode = await main(programs.child, process.argv.slice(2))
} finally {
  dispose()
}
