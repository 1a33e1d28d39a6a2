/** Classifies run statuses for clients that follow a run: terminal, or waiting for a person. */
import type { RunStatus } from '../../domain/status.ts'

export function isTerminal(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

export function isWaiting(status: RunStatus): boolean {
  return status === 'awaiting_hitl' || status === 'awaiting_human'
}
