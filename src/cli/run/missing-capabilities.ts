/** Rejects a run whose capabilities are not all loaded, before anything is recorded. */
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Reply } from '../../domain/ask.ts'

export function missingError(capabilityIds: readonly string[], note: string): ProvisoError {
  const names = capabilityIds.map((id) => `"${id}"`).join(', ')
  const message = `The run needs missing capabilities: ${names}. ${note}`
  return new ProvisoError('capability/missing', message, {
    hint: 'Load them with --file or --use; or pass --record-only to `reply` or `resume`, and let a process with these capabilities continue',
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
