/** Replaces `plain.ts` in the light reader, which does without the fast path: the general path reads every token. */
import type { Machine } from '../machine.ts'

export function readPlain(_d: Machine): void {}
