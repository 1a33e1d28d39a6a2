/** What tests of the built package share: running Node on it the way a user would. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, staleBuild } from '../scripts/setup.mjs'

export { root }

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** What is written to stdin, which is then closed. Default: nothing. */
  readonly stdin?: string | Uint8Array
  readonly cwd?: string
  /** On top of the environment of the tests. */
  readonly env?: { readonly [name: string]: string | undefined }
}

/** Tests of `dist` must not pass on yesterday's build. */
export function requireBuild(): void {
  requireBuilt('build')
}

/** The same for what another command builds. */
export function requireBuilt(name: 'build' | 'ui' | 'reader' | 'playground'): void {
  const reason = staleBuild(name)
  if (reason !== undefined) throw new Error(`${reason}: run \`npm run ${name}\` first (\`npm test\` does)`)
}

/** Runs `proviso` with the given arguments in a process of its own. */
export function proviso(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return runNode([join(root, 'dist/cli/main.js'), ...args], options)
}

export function runNode(
  args: readonly string[],
  { stdin = '', cwd = root, env = {} }: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...childEnv(), ...env } })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    // A child that refuses its input closes the pipe before everything is written.
    child.stdin.on('error', () => {})
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.end(stdin)
  })
}

/**
 * Runs `proviso` in a process that the commands of a test file share, one after another: for tests about what a command
 * prints and how it ends, not about its process, its environment or its terminal.
 */
export function runCommand(
  args: readonly string[],
  { stdin = '', cwd = root }: Omit<RunOptions, 'env'> = {},
): Promise<Finished> {
  const done = last.then(() => send({ args, cwd, stdin: Buffer.from(stdin).toString('base64') }))
  last = done.catch(() => {})
  return done
}

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

function send(given: { args: readonly string[]; cwd: string; stdin: string }): Promise<Finished> {
  host ??= startHost()
  const child = host
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => {
      host = undefined
      reject(new Error(`The process of commands ended with ${code} during: proviso ${given.args.join(' ')}`))
    }
    child.once('exit', onExit)
    child.once('message', (finished: Finished) => {
      child.off('exit', onExit)
      resolve(finished)
    })
    child.send(given)
  })
}

/** Ends with the thread that started it: the channel closes. */
function startHost(): ChildProcess {
  const script = fileURLToPath(new URL('command-host.mjs', import.meta.url))
  const child = fork(script, [join(root, 'dist/cli/main.js')], { cwd: root, env: childEnv(), execArgv: [] })
  child.unref()
  child.channel?.unref()
  return child
}

function childEnv(): NodeJS.ProcessEnv {
  return { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, PROVISO_STORE: undefined }
}
