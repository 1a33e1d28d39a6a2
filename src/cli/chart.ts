/** Numbers as pictures of characters: a bar for one, a row of columns for a series. Pure. */

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const columns = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** A bar of up to `width` characters; whatever is not nothing can be seen. */
export function bar(value: number, most: number, width = 20): string {
  if (value <= 0 || most <= 0) return ''
  const parts = Math.max(Math.round((Math.min(value, most) / most) * width * 8), 1)
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '')
}

/** One column per value; the lowest stands for zero. */
export function spark(values: readonly number[]): string {
  const most = Math.max(...values, 0)
  return values
    .map((value) => columns[most === 0 ? 0 : Math.ceil((Math.max(value, 0) / most) * (columns.length - 1))])
    .join('')
}
