/** What nobody foresaw is never silent: where the app has no `onCrash`, the process warns of it on stderr. */
import type { Redactor } from '../domain/redact.ts'

/** A run could not go on here; or, without a run, the store or the registrations of agents could not be read. */
export type OnCrash = (runId: string, cause: unknown) => void

/** The store is asked again and again: what is said of it is said once, until something else is wrong. */
export function reportCrash(redactor: Redactor): OnCrash {
  let last: string | undefined
  return (runId, cause) => {
    const why = redactor.text(cause instanceof Error ? cause.message : String(cause))
    if (runId === '' && why === last) return
    if (runId === '') last = why
    const what =
      runId === ''
        ? `The store does not answer, and is asked again: ${why}`
        : `The run "${runId}" could not go on in this process: ${why}. It is kept, and can be claimed again`
    process.emitWarning(what, {
      type: 'ProvisoWarning',
      code: runId === '' ? 'store/unavailable' : 'run/crashed',
      detail: redactor.text((cause instanceof Error && cause.stack) || ''),
    })
  }
}
