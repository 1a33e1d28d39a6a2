/** `proviso dev`: tools for pipeline maintainers. */
import type { Command } from 'commander'
import { addHealthCheckCommand } from './health-check.ts'

export function addDevCommands(program: Command): void {
  addHealthCheckCommand(program.command('dev').description('tools for pipeline maintainers'))
}
