/** Says what a server lacks to go on with a run. */
import { env } from './env.ts'
import { colors } from './print.ts'
import { commandLine } from './shell.ts'

/** Lacks that are remembered as told. */
const mostTold = 10_000

/** Once for each run and lack: the engine comes back to such a run again and again, for another process may have what it needs. */
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
