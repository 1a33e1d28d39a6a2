/** Asks on stderr whether to go ahead; the answer is one line on stdin. */
import { createInterface } from 'node:readline'

/** `undefined` if nobody answers: stdin is closed. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const lines = createInterface({ input: process.stdin })
  process.stderr.write(`${question} [y/N] `)
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim())
    return undefined
  } finally {
    lines.close()
    process.stdin.destroy()
  }
}
