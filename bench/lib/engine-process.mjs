/** An engine in a process of its own, and requests to it. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const engines = new URL('../engines/child.mjs', import.meta.url)

/** An engine in its own process, which works only while a request is open: they take turns. */
export function startChild(program = engines, execArgv = []) {
  const child = fork(fileURLToPath(program), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv,
  })
  const gone = once(child, 'exit')
  return {
    async request(what, given) {
      child.send({ what, ...given })
      const [answer] = await Promise.race([
        once(child, 'message'),
        gone.then(([code]) => Promise.reject(new Error(`An engine's process ended with ${code}`))),
      ])
      if (answer.failed && what !== 'open') throw new Error(answer.failed)
      return answer
    },
    async close() {
      if (child.connected) child.send({ what: 'close' })
      await gone
    },
  }
}
