/** Prints which capabilities a server lacks to continue a run. */
import { env } from '../env.ts'
import { colors } from '../print.ts'
import { commandLine } from '../shell.ts'

/** Upper bound of remembered notices. */
const maxNotices = 10_000

/** Prints one notice for each run and set of missing capabilities. The engine retries such runs, because another process may have what they need. */
export function createMissingCapabilityNotice(
  print: (line: string) => void,
): (runId: string, capabilityIds: readonly string[]) => void {
  const printed = new Set<string>()
  return (runId, capabilityIds) => {
    const lack = JSON.stringify([runId, capabilityIds])
    if (printed.has(lack)) return
    if (printed.size >= maxNotices) printed.clear()
    printed.add(lack)
    const resume = commandLine([...env.program, 'resume', runId, '--file'])
    print(
      `${colors.yellow('!')} The run ${runId} waits for missing capabilities: ${capabilityIds.join(', ')}`,
    )
    print(
      `  Load them with --use FILE; resume a run of a pipeline or template with \`${resume} FILE\` (with a SQLite store, after this server has stopped)`,
    )
  }
}
