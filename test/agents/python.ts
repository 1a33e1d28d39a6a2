/** Whether the Python agents can be tested here. */
import { spawnSync } from 'node:child_process'

/** False if python3 is not installed, with a warning; in CI its tests must not be skipped. */
export function hasPython(): boolean {
  if (spawnSync('python3', ['--version']).status === 0) return true
  if (process.env['CI'] === 'true')
    throw new Error('python3 is not installed; in CI its tests must not be skipped')
  console.warn('SKIPPED: tests of Python programs, because python3 is not installed')
  return false
}
