// @ts-check
/** Starts the server as a child process and forwards its output and signals; both processes end together. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './setup.mjs'

/**
 * @param {readonly string[]} args of `proviso serve`
 * @returns {{ address: Promise<string | undefined>, ended: Promise<number> }} no address if it ended before it had one
 */
export function serveChild(args) {
  const main = join(root, 'dist', 'cli', 'main.js')
  const child = spawn(process.execPath, [main, 'serve', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.on(signal, () => child.kill(signal))
  /** @type {Promise<number>} */
  const ended = new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  /** @type {Promise<string | undefined>} */
  const address = new Promise((resolve) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      process.stdout.write(text)
      said += text
      const [, found] = /serves on (\S+)\n/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    ended.then(() => resolve(undefined))
  })
  return { address, ended }
}
