/** What the page allows itself, so that no text, schema or link can freeze it. */
export const limits = {
  /** Milliseconds after the last key before the text is read. */
  debounceMs: 120,
  /** Milliseconds after which a reading is stopped. */
  deadlineMs: 5_000,
  /** Characters of a fragment that are read or written. */
  fragment: 100_000,
  /** Repairs, and issues, that are listed and highlighted. */
  notes: 500,
  /** Characters of the text around repairs that are shown. */
  text: 60_000,
  /** Characters of the value, and of a partial value, that are shown. */
  value: 60_000,
  /** Characters of what a repair replaced, or put in its place. */
  excerpt: 120,
  /** Steps in which a stream is played. */
  steps: 150,
} as const
