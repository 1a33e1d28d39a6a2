/** A terminal that obeys the few sequences the command sends: what is on its screen, and how many lines it has used. */

export function playTerminal(text: string): { readonly rows: readonly string[] } {
  const rows: string[] = ['']
  let [row, column] = [0, 0]
  for (const match of text.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|\u001b\][^\u0007]*\u0007|([^\u001b])/gu)) {
    const [, count = '', code, sign] = match
    if (code === 'J') throw new Error('the screen is cleared: terminals keep a copy of every picture')
    if (code === 'A') row = Math.max(row - Number(count || 1), 0)
    else if (code === 'K') rows[row] = (rows[row] ?? '').slice(0, column)
    else if (sign === '\r') column = 0
    else if (sign === '\n') {
      row++
      rows[row] ??= ''
      // A terminal in raw mode would stay in the column; the driver adds the return.
    } else if (sign !== undefined) {
      const line = (rows[row] ?? '').padEnd(column)
      rows[row] = line.slice(0, column) + sign + line.slice(column + 1)
      column++
    }
  }
  return { rows: rows.map((line) => line.trimEnd()) }
}
