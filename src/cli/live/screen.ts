/** Shows a running run on stderr: a tree redrawn in place on a terminal, else one line per change. */
import type { JournalEvent } from '../../domain/event.ts'
import { env } from '../env.ts'
import { colors, printNote } from '../print.ts'
import type { NodeView, Progress } from './progress.ts'
import { changeLine, traceLine, treeLines } from './tree.ts'

export interface Screen {
  /** Called after the progress has applied the event. */
  update(event: JournalEvent): void
  /** Draws the final state. */
  close(): void
}

/** `verbose` prints the trace of every model call as lines between the others (`telemetry.verbose`) and disables the tree. */
export function createScreen(progress: Progress, { verbose }: { readonly verbose: boolean }): Screen {
  if (verbose) return traceScreen(lineScreen(progress))
  return process.stderr.isTTY && !env.noColor ? treeScreen(progress) : lineScreen(progress)
}

/** Disables line wrapping in the terminal, so that the number of lines to move up is exact. */
const noWrap = '\u001b[?7l'
const wrap = '\u001b[?7h'
const redrawMs = 100

function treeScreen(progress: Progress): Screen {
  let drawn = 0
  let due: NodeJS.Timeout | undefined
  const draw = (rows: number) => {
    const lines = treeLines(progress.nodes(), { colors, now: Date.now(), rows })
    const back = drawn > 0 ? `\u001b[${drawn}A\r\u001b[J` : ''
    process.stderr.write(`${back}${noWrap}${lines.map((line) => `${line}\n`).join('')}${wrap}`)
    drawn = lines.length
  }
  // Redraws between events, because durations keep growing.
  const tick = setInterval(() => draw(room()), 500)
  tick.unref()
  return {
    update() {
      due ??= setTimeout(() => {
        due = undefined
        draw(room())
      }, redrawMs).unref()
    },
    close() {
      clearInterval(tick)
      clearTimeout(due)
      draw(room())
    },
  }
}

/** Keeps one line free for the cursor. */
function room(): number {
  return Math.max((process.stderr.rows ?? 24) - 2, 3)
}

function traceScreen(under: Screen): Screen {
  return {
    update(event) {
      under.update(event)
      if (event.type === 'log') printNote(traceLine(event, colors))
    },
    close: () => under.close(),
  }
}

/** Limits the output of a map to one line per tenth, because a map may have many thousand items. */
function tenths({ ended, total }: NonNullable<NodeView['iterations']>): number {
  return total === 0 ? 0 : Math.floor((ended * 10) / total)
}

function lineScreen(progress: Progress): Screen {
  const said = new Map<string, string>()
  const key = ({ status, attempts, detail, iterations }: NodeView) =>
    `${status} ${attempts} ${detail ?? ''} ${iterations ? tenths(iterations) : ''}`
  return {
    update(event) {
      // An item has no line of its own: its map prints one for each tenth.
      const { nodeId = '' } = event.type === 'iteration_end' ? { nodeId: event.payload.of } : event
      const node = progress.node(nodeId)
      if (node === undefined || said.get(nodeId) === key(node)) return
      const line = changeLine(node, { colors, now: Date.now() })
      if (line === undefined) return
      said.set(nodeId, key(node))
      printNote(line)
    },
    close() {},
  }
}
