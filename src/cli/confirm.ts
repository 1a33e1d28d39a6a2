/** Asks a yes/no question on stderr and reads one line from stdin. */
import { createInterface } from 'node:readline'

/** Returns `undefined` if stdin closes before an answer. */
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
