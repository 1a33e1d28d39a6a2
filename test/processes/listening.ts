/** Waits for a server in a process of its own. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'

export interface Listening {
  readonly address: string
  /** The exit code, once the process is over. */
  readonly ended: Promise<number | null>
  /** Resolves when the process has written these words to its standard error. */
  readonly says: (words: string) => Promise<void>
  readonly stderr: () => string
}

/** Resolves when the process prints where it listens; rejects with its messages when it ends before. */
export async function listening(child: ChildProcessWithoutNullStreams): Promise<Listening> {
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (said: string) => {
    stderr += said
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (said: string) => {
      stdout += said
      const [, found] = /serves on (\S+)\n/.exec(stdout) ?? []
      if (found !== undefined) resolve(found)
    })
    void ended.then((code) => reject(new Error(`It ended with ${code}: ${stderr}`)))
  })
  const says: Listening['says'] = (words) =>
    new Promise((resolve, reject) => {
      const look = () => stderr.includes(words) && resolve()
      child.stderr.on('data', look)
      look()
      void ended.then(() => reject(new Error(`It ended without saying "${words}": ${stderr}`)))
    })
  return { address, ended, says, stderr: () => stderr }
}
