/** Rejects a run whose capabilities are not all loaded, before anything is recorded. */
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Reply } from '../../domain/ask.ts'

export function missingError(capabilityIds: readonly string[], note: string): ProvisoError {
  const names = capabilityIds.map((id) => `"${id}"`).join(', ')
  const message = `The run needs capabilities that are not here: ${names}. ${note}`
  return new ProvisoError('capability/missing', message, {
    hint: 'Bring them with --file or --use; `reply` and `resume` with --record-only leave the run to a process that has them',
  })
}

export async function refuseMissing(
  app: App,
  runId: string,
  answer?: Pick<Reply, 'requestId' | 'decision' | 'rejectAction'>,
): Promise<void> {
  const missing = await app.missingCapabilities(runId, answer)
  if (missing.length > 0) throw missingError(missing, 'Nothing was recorded')
}
