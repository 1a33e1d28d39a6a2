// @ts-check
/**
 * `npm start`: installs and builds what is missing, serves in development mode, runs the specification's sample once through
 * the server, and shows what to try. Options go to `proviso serve`, such as `npm start -- --port 4000`.
 */
import { firstMinute } from './first-minute.mjs'
import { serveChild } from './serve-child.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'

ensureInstalled()
ensureBuilt()
ensureBuilt('ui')

const server = serveChild(['--dev', '--preset', 'marketing', ...process.argv.slice(2)])
const address = await server.address
if (address !== undefined) {
  try {
    console.log(await firstMinute(address))
  } catch (error) {
    // A failing sample must not stop the server.
    console.error(`The sample could not be shown: ${error instanceof Error ? error.message : error}`)
  }
}
process.exitCode = await server.ended
