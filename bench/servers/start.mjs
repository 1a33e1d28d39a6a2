/** Starts the server that is measured, and asks it about itself. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The folder of this package. */
export const ownRoot = fileURLToPath(new URL('../..', import.meta.url))

/**
 * `root`: the folder of the built package; `address`: of an empty PostgreSQL database, else it opens a SQLite file;
 * `program`: the server, a file of this folder.
 */
export async function startServer({ root = ownRoot, address, program: name = 'child.mjs' } = {}) {
  const program = fileURLToPath(new URL(name, import.meta.url))
  const child = fork(program, [root, ...(address === undefined ? [] : [address])], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map()
  child.on('message', ({ question, answer }) => waiting.get(question)?.resolve(answer))
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The server ended with ${code}`))
  })
  const answerTo = (question) =>
    new Promise((resolve, reject) => void waiting.set(question, { resolve, reject }))
  const url = await answerTo('url')
  return {
    url,
    ask(question) {
      const answer = answerTo(question)
      child.send(question)
      return answer
    },
    close() {
      if (child.connected) child.disconnect()
      return new Promise((resolve) => {
        if (child.exitCode !== null) resolve()
        else child.once('exit', resolve)
      })
    },
  }
}
