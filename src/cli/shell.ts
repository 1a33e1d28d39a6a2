/** Builds commands that people can copy, with words quoted for a POSIX shell, or on Windows for cmd and PowerShell. */

export function commandLine(words: readonly string[], platform: string = process.platform): string {
  return words.map(platform === 'win32' ? quoteForWindows : quote).join(' ')
}

const plain = /^[\w@%+=:,./-]+$/

function quote(word: string): string {
  return plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** In PowerShell, `@` at the beginning of a word and `,` have a meaning of their own. */
const plainForWindows = /^[\w%+=:./\\-][\w@%+=:./\\-]*$/

/** Both shells take double quotes; a double quote inside cannot be written for both, so such values go into a file (`@FILE`). */
function quoteForWindows(word: string): string {
  return plainForWindows.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`
}
