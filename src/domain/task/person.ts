/** Identifies people by the signatures that the journal has of them. */

/**
 * Identifies the person behind a signature, to distinguish two people: tokens sign as `name (token id)`, and a person may have
 * several tokens.
 */
export function identifyPerson(by: string): string {
  return by
    .replace(/ \(tok_[0-9a-f]+\)$/, '')
    .normalize('NFKC')
    .trim()
    .toLowerCase()
}
