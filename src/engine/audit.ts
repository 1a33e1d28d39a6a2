/**
 * The chain of what people were asked and what they decided: each link holds the hash of the one before, so that a row
 * cannot be changed, added or taken out without breaking every later one.
 */
import { canonicalJson } from '../base/canonical.ts'
import { sha256Hex } from '../base/hash.ts'
import type { Json } from '../base/json.ts'
import type { AuditLink } from '../domain/event.ts'

export interface AuditSubject {
  readonly runId: string
  readonly requestId: string
  readonly at: number
  /** Who. */
  readonly by: string
  /** `asked`, or the decision. */
  readonly what: string
  /** Hash of the value that was shown or given. */
  readonly subjectHash: string
  /** What was asked, or the note of who decided. */
  readonly words?: string | undefined
  /** What a reply wants after its rejection. */
  readonly action?: string | undefined
}

export function auditLink(prev: string, subject: AuditSubject): AuditLink {
  return {
    prev,
    subjectHash: subject.subjectHash,
    hash: sha256Hex(`${prev}\n${canonicalJson({ ...subject })}`),
  }
}

/** The identity of a value that a person is shown. */
export function valueHash(value: Json): string {
  return sha256Hex(canonicalJson(value))
}
