/** Prints which capabilities a server lacks to continue a run. */
import { env } from '../env.ts'
import { colors } from '../print.ts'
import { commandLine } from '../shell.ts'

/** Upper bound of remembered notices. */
const mostTold = 10_000

/** Prints one notice for each run and set of missing capabilities. The engine retries such runs, because another process may have what they need. */
export function missingTeller(
  print: (line: string) => void,
): (runId: string, capabilityIds: readonly string[]) => void {
  const told = new Set<string>()
  return (runId, capabilityIds) => {
    const lack = JSON.stringify([runId, capabilityIds])
    if (told.has(lack)) return
    if (told.size >= mostTold) told.clear()
    told.add(lack)
    const resume = commandLine([...env.program, 'resume', runId, '--file'])
    print(
      `${colors.yellow('!')} The run ${runId} waits for capabilities that are not here: ${capabilityIds.join(', ')}`,
    )
    print(
      `  Bring them with --use FILE; a run of a pipeline or template goes on with \`${resume} FILE\` (a SQLite store: after this server)`,
    )
  }
}
