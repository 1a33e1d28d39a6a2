/** Commands that people can copy: words quoted as a POSIX shell wants them. */

export function commandLine(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
