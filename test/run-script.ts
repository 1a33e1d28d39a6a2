/** Starts a script of this repository in a process of its own, and checks the mistakes that scripts put into the sources. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

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

interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
}

/** Expects each mistake at exactly one location in the sources. */
export function expectOneLocation(mutants: readonly Mutant[]): void {
  for (const { name, file, find } of mutants) {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    expect(text.split(find).length - 1, `"${name}" in ${file}`).toBe(1)
  }
}
