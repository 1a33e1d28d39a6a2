/** Reports the capabilities that a run needs and this process has not loaded. */
import type { App } from '../app.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { Reply } from '../domain/ask.ts'
import { env } from './env.ts'
import { colors } from './print.ts'
import { commandLine } from './shell.ts'

export function missingError(capabilityIds: readonly string[], note: string): ProvisoError {
  const names = capabilityIds.map((id) => `"${id}"`).join(', ')
  const message = `The run needs missing capabilities: ${names}. ${note}`
  return new ProvisoError('capability/missing', message, {
    hint: 'Load them with --file or --use; or pass --record-only to `reply` or `resume`, and let a process with these capabilities continue',
  })
}

/** Rejects a run whose capabilities are not all loaded, before anything is recorded. */
export async function refuseMissing(
  app: App,
  runId: string,
  answer?: Pick<Reply, 'requestId' | 'decision' | 'rejectAction'>,
): Promise<void> {
  const missing = await app.missingCapabilities(runId, answer)
  if (missing.length > 0) throw missingError(missing, 'Nothing was recorded')
}

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
