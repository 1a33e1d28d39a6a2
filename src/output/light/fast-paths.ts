/** Replaces `fast-paths.ts` in the light reader, which does without the shortcuts. */
export const hasFastPaths: boolean = false
