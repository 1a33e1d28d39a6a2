/** Runs one life of the process under test: from its start until it kills itself, is killed, or has finished. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { ChildReport, ChildTask } from './messages.ts'

export interface Life {
  readonly end: 'done' | 'killed' | 'failed' | 'stuck'
  /** The crash point at which it killed itself. */
  readonly diedAt?: string
  readonly reports: readonly ChildReport[]
  /** Its error output. */
  readonly errors: string
}

export interface LifeOptions {
  /** The compiled program. */
  readonly program: string
  readonly task: ChildTask
  /** Kill it from outside after this time. */
  readonly killAfterMs?: number
  /** A longer life counts as stuck. */
  readonly limitMs: number
  readonly onReport?: (report: ChildReport) => void
}

export function live({ program, task, killAfterMs, limitMs, onReport }: LifeOptions): Promise<Life> {
  const reports: ChildReport[] = []
  let errors = ''
  let stuck = false
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const report = JSON.parse(line) as ChildReport
    reports.push(report)
    onReport?.(report)
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const limit = setTimeout(() => {
    stuck = true
    child.kill('SIGKILL')
  }, limitMs)
  const ours = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(limit)
      clearTimeout(ours)
      const end = stuck ? 'stuck' : signal === 'SIGKILL' ? 'killed' : code === 0 ? 'done' : 'failed'
      const last = reports.at(-1)
      resolve({ end, ...(last?.kind === 'dying' && { diedAt: last.point }), reports, errors })
    })
  })
}
