// @ts-check
/** `npm run restarts -- --store sqlite|postgres --restarts N [--seed S] [--json]`: restarts processes that start runs which exist. */
import { compile } from './compile.mjs'

const { programs, dispose } = await compile({
  child: 'test/restarts/child.ts',
  main: 'test/restarts/main.ts',
})
try {
  const { main } = await import(programs.main)
  process.exitCode = await main(programs.child, process.argv.slice(2))
} finally {
  dispose()
}
