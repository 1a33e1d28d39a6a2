/** The envelope that is being written. It is kept in this browser until it is sent; the server stores no drafts. */
const key = 'proviso.draft'

export function saveDraft(text: string): void {
  localStorage.setItem(key, text)
}

export function loadDraft(): string | undefined {
  return localStorage.getItem(key) ?? undefined
}
