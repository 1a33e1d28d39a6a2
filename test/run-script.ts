/** Starts a script of this repository in a process of its own. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What `scripts/NAME.mjs ARGS --json` prints, also where its exit code says that something is wrong. */
export function runScript<T>(name: string, ...args: readonly string[]): Promise<T> {
  const script = fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [script, ...args, '--json'],
      { maxBuffer: 2 ** 28 },
      (error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout) as T)
        } catch {
          reject(error ?? new Error(stderr))
        }
      },
    )
  })
}
