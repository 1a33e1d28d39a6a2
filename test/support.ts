/** What tests of the built package share: running Node on it the way a user would. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
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
  const reason = staleBuild()
  if (reason !== undefined) throw new Error(`${reason}: run \`npm run build\` first (\`npm test\` does)`)
}

/** Runs `proviso` with the given arguments. */
export function proviso(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return runNode([join(root, 'dist/cli/main.js'), ...args], options)
}

export function runNode(
  args: readonly string[],
  { stdin = '', cwd = root, env = {} }: RunOptions = {},
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, PROVISO_STORE: undefined, ...env },
    })
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
