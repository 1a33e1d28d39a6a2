/** Reports unexpected errors: without an `onCrash` handler, the process emits a warning on stderr. */
import type { Redactor } from '../domain/redaction/redact.ts'

/** Called when a run crashed in this process; or, with an empty run id, when the store or the registrations cannot be read. */
export type OnCrash = (runId: string, cause: unknown) => void

/** The store is polled: a repeated error is reported once, until the error changes. */
export function reportCrash(redactor: Redactor): OnCrash {
  let last: string | undefined
  return (runId, cause) => {
    const why = redactor.text(cause instanceof Error ? cause.message : String(cause))
    if (runId === '' && why === last) return
    if (runId === '') last = why
    const what =
      runId === ''
        ? `Cannot read the store, retrying: ${why}`
        : `Run "${runId}" crashed in this process: ${why}. It is stored, and can be claimed again`
    process.emitWarning(what, {
      type: 'ProvisoWarning',
      code: runId === '' ? 'store/unavailable' : 'run/crashed',
      detail: redactor.text((cause instanceof Error && cause.stack) || ''),
    })
  }
}
