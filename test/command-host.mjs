// @ts-check
/**
 * Runs commands of the built `proviso` one after another in one process: the same file, arguments, folder, input, output and
 * exit code as in a process of its own, without the half second that starting one takes. The parent sends
 * `{ args, cwd, stdin }` and gets `{ code, stdout, stderr }`.
 */
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const [main = ''] = process.argv.slice(2)
const home = process.cwd()
let commands = 0
let said = { stdout: '', stderr: '' }
let input = Readable.from([])

// Every command adds its listeners; a process of its own has one of each.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)
// A command leaves its process some time after its end: this one stays.
process.exit = /** @type {typeof process.exit} */ (() => {})
Object.defineProperty(process, 'stdin', { get: () => input })
for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
  process[name].write = /** @type {typeof process.stdout.write} */ (
    (/** @type {string | Uint8Array} */ chunk, /** @type {unknown[]} */ ...rest) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      const done = rest.find((each) => typeof each === 'function')
      if (done) process.nextTick(/** @type {() => void} */ (done))
      return true
    }
  )
}

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async (/** @type {{ args: string[], cwd?: string, stdin: string }} */ command) => {
  said = { stdout: '', stderr: '' }
  input = Readable.from(command.stdin === '' ? [] : [Buffer.from(command.stdin, 'base64')])
  process.argv = [process.execPath, main, ...command.args]
  process.exitCode = undefined
  process.chdir(command.cwd ?? home)
  // Under another address the same file is loaded again; what it imports is not.
  await import(`${pathToFileURL(main).href}?command=${++commands}`)
  await new Promise((resolve) => setImmediate(resolve))
  const code = Number(process.exitCode ?? 0)
  process.exitCode = undefined
  process.chdir(home)
  process.send?.({ code, ...said })
})
