/** One line on a terminal that shows how far long work has come; without a terminal, nothing is printed. */
import type { Progress } from '../../adapters/stores/store-operations.ts'
import { canRedraw } from '../terminal.ts'

interface ProgressLine {
  readonly show: (progress: Progress) => void
  readonly clear: () => void
}

export function createProgressLine(): ProgressLine {
  return {
    show({ done, total, unit }) {
      if (!canRedraw) return
      const share =
        total === undefined || total === 0 ? '' : ` ${Math.min(100, Math.round((100 * done) / total))} %`
      process.stderr.write(
        `\r\u001b[K${unit === 'bytes' ? `${Math.round(done / 1_048_576)} MB` : `${done} rows`}${share}`,
      )
    },
    clear() {
      if (canRedraw) process.stderr.write('\r\u001b[K')
    },
  }
}
