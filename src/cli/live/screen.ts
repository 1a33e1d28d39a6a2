/** Shows a running run on stderr: a tree redrawn in place on a terminal, else one line per change. */
import type { JournalEvent } from '../../domain/event.ts'
import { colors, printNote, showBelow } from '../print.ts'
import { canRedraw, columns, countRows, cutLine, rowsLeft, toTerminal } from '../terminal.ts'
import type { NodeView, Progress } from './progress.ts'
import { changeLine, traceLine, treeLines } from './tree-lines.ts'

export interface Screen {
  /** Called after the progress has applied the event. */
  update(event: JournalEvent): void
  /** Draws the final state. */
  close(): void
}

interface ScreenOptions {
  /** Prints the trace of every model call as lines between the others (`telemetry.verbose`) and disables the tree. */
  readonly verbose: boolean
  /** Shows nothing. */
  readonly quiet: boolean
}

export function createScreen(progress: Progress, { verbose, quiet }: ScreenOptions): Screen {
  if (quiet) return { update() {}, close() {} }
  if (verbose) return traceScreen(lineScreen(progress))
  return canRedraw ? treeScreen(progress) : lineScreen(progress)
}

/** Disables line wrapping while drawing: a window made narrower in between must not add lines. */
const noWrap = '\u001b[?7l'
const wrap = '\u001b[?7h'
const redrawMs = 100

/**
 * Rewrites only the lines that changed, each in its place, and clears to the end of the line at most: clearing the screen
 * makes terminals with a scrollback of their own, such as tmux, keep a copy of every picture.
 */
function redraw(before: readonly string[], after: readonly string[]): string {
  let text = before.length > 0 ? `\u001b[${before.length}A` : ''
  for (const [row, line] of after.entries()) text += line === before[row] ? '\n' : `\r${line}\u001b[K\n`
  const left = before.length - after.length
  if (left > 0) text += `${'\r\u001b[K\n'.repeat(left)}\u001b[${left}A`
  return text
}

/**
 * Erases what was drawn before the window got another width. The terminal has wrapped lines that are too long by now, and
 * remembers where: only clearing whole lines makes it forget.
 */
function eraseReflowed(lines: readonly string[]): string {
  const rows = lines.reduce((sum, line) => sum + countRows(line, columns()), 0)
  const reached = Math.min(rows, rowsLeft() + 1)
  if (reached === 0) return ''
  const up = `\u001b[${reached}A`
  return `${up}${'\r\u001b[2K\n'.repeat(reached)}${up}`
}

function treeScreen(progress: Progress): Screen {
  let drawn: readonly string[] = []
  let due: NodeJS.Timeout | undefined
  const show = (lines: readonly string[]) => {
    process.stderr.write(`${noWrap}${redraw(drawn, lines)}${wrap}`)
    drawn = lines
  }
  const onResize = () => {
    process.stderr.write(eraseReflowed(drawn))
    drawn = []
    draw()
  }
  process.stderr.on('resize', onResize)
  const draw = () => {
    const width = columns() - 1
    const lines = treeLines(progress.nodes(), { colors, now: Date.now(), rows: rowsLeft(), width })
    show(lines.map((line) => cutLine(toTerminal(line), width)))
  }
  // Notes go above the tree, which is drawn again below them.
  const stopBelow = showBelow({ hide: () => show([]), show: draw })
  // Redraws between events, because durations keep growing.
  const tick = setInterval(draw, 500)
  tick.unref()
  return {
    update() {
      due ??= setTimeout(() => {
        due = undefined
        draw()
      }, redrawMs).unref()
    },
    close() {
      clearInterval(tick)
      clearTimeout(due)
      process.stderr.off('resize', onResize)
      stopBelow()
      draw()
    },
  }
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
