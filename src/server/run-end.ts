/** Where a run stands, as those ask who follow it: over, or waiting for a person. */
import type { RunStatus } from '../domain/status.ts'

export function isTerminal(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

export function isWaiting(status: RunStatus): boolean {
  return status === 'awaiting_hitl' || status === 'awaiting_human'
}
