/**
 * Audit hash chain of asks and decisions: each link contains the hash of the one before, so that a row cannot be changed,
 * inserted or removed without breaking all later ones.
 */
import { canonicalJson, sha256Hex } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import type { AuditLink } from '../../../domain/event.ts'
import type { GrantScope } from '../../../domain/loop-facts.ts'

interface AuditSubject {
  readonly runId: string
  readonly requestId: string
  readonly at: number
  /** The person or `system`. */
  readonly by: string
  /** `asked`, or the decision. */
  readonly what: string
  /** Hash of the value that was shown or submitted. */
  readonly subjectHash: string
  /** The question, or the note of the decision. */
  readonly words?: string | undefined
  /** What a reply requests besides: the action after its rejection, or that it is remembered. */
  readonly action?: string | undefined
}

export function auditLink(prev: string, subject: AuditSubject): AuditLink {
  return {
    prev,
    subjectHash: subject.subjectHash,
    hash: sha256Hex(`${prev}\n${canonicalJson({ ...subject })}`),
  }
}

/** The action of a reply that is remembered. */
export function grantAction(grant: GrantScope | undefined): string | undefined {
  return grant && `grant:${grant}`
}

/** Identifies the value that an ask shows. */
export function valueHash(value: Json): string {
  return sha256Hex(canonicalJson(value))
}
