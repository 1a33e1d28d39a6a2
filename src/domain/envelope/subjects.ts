/** The people that a run is about: `metadata.subject` of its envelope, one name or a list of them. */
import { isObject, type Json, own } from '../../base/json.ts'

/** Whether an envelope names the subject. Numbers count as their digits, because many systems number their customers. */
export function isAboutSubject(envelope: unknown, subject: string): boolean {
  const metadata = isObject(envelope) ? own(envelope, 'metadata') : undefined
  const named = isObject(metadata) ? own(metadata, 'subject') : undefined
  const all = Array.isArray(named) ? (named as readonly Json[]) : [named]
  return all.some((one) => (typeof one === 'string' || typeof one === 'number') && String(one) === subject)
}
