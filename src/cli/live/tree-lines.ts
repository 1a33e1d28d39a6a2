/** Renders the node states of a run as lines of text. Pure, for tests. */
import type { JournalEvent } from '../../domain/event.ts'
import { oneLine, spell } from '../one-line.ts'
import type { Colors } from '../print.ts'
import type { NodeView, ShownStatus } from './progress.ts'

interface Drawing {
  readonly colors: Colors
  /** Milliseconds since 1970, for durations of active nodes. */
  readonly now: number
  /** Maximum number of lines; active nodes come first. Default: all. */
  readonly rows?: number
  /** Cells of a line: where it is too narrow, names are cut before what happens to the node. Default: no limit. */
  readonly width?: number
}

interface Mark {
  readonly sign: string
  readonly color: 'green' | 'red' | 'yellow' | 'cyan' | 'dim'
  /** Word for lines without a tree; empty for a status that gets no line. */
  readonly word: string
}

const marks: Record<ShownStatus, Mark> = {
  pending: { sign: '·', color: 'dim', word: '' },
  ready: { sign: '·', color: 'dim', word: '' },
  running: { sign: '▸', color: 'cyan', word: 'running' },
  judging: { sign: '▸', color: 'cyan', word: '' },
  waiting: { sign: '↻', color: 'yellow', word: 'waits' },
  awaiting_hitl: { sign: '?', color: 'yellow', word: 'asks' },
  completed: { sign: '✓', color: 'green', word: 'completed' },
  error: { sign: '✗', color: 'red', word: 'failed' },
  cancelled: { sign: '⊘', color: 'dim', word: 'cancelled' },
  skipped: { sign: '–', color: 'dim', word: 'skipped' },
}

/** One line per node, drawn as a tree. */
export function treeLines(nodes: readonly NodeView[], drawing: Drawing): string[] {
  const placed = arrangeTree(nodes)
  const shown = choose(placed, drawing.rows ?? placed.length)
  const lines = shown.map(
    ({ node, branch }) => drawing.colors.dim(branch) + describe(node, drawing, branch.length),
  )
  const left = placed.length - shown.length
  return left === 0 ? lines : [...lines, drawing.colors.dim(`… and ${left} more`)]
}

/** Renders one line for one node, for output that is not a terminal; `undefined` for a status that gets no line. */
export function changeLine(node: NodeView, { colors, now }: Drawing): string | undefined {
  const { word, color, sign } = marks[node.status]
  if (word === '') return undefined
  const { startedAt, ...rest } = node
  // Omits the duration of an active node: it is out of date as soon as it is printed.
  const shown = node.endedAt === undefined ? rest : node
  return `${colors[color](sign)} ${getName(node)} ${word}${facts(shown, now)}`
}

/** Renders an event of a model call's trace: its node, its type and its data. */
export function traceLine({ nodeId, payload }: JournalEvent<'log'>, colors: Colors): string {
  const said = Object.entries(payload.payload ?? {}).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const whose = nodeId === undefined ? '' : `${oneLine(nodeId, 60)} `
  return `${colors.dim('·')} ${whose}${payload.event}${colors.dim(oneLine(said.map((each) => ` ${each}`).join(''), 200))}`
}

function describe(node: NodeView, { colors, now, width }: Drawing, indent: number): string {
  const { sign, color } = marks[node.status]
  const details = facts(node, now)
  const whole = getName(node)
  const isTooLong = width !== undefined && indent + whole.length + details.length + 2 > width
  const name = isTooLong ? getName(node, Math.max(shortestName, Math.floor(width / 2) - indent)) : whole
  const isDim = node.status === 'pending' || node.status === 'skipped' || node.status === 'cancelled'
  return `${colors[color](sign)} ${isDim ? colors.dim(name) : name}${colors.dim(details)}`
}

/** Characters of a name that are kept, however narrow the terminal is. */
const shortestName = 16

/** The label and the id, which errors and commands use; the label is cut first. */
function getName({ id, label }: NodeView, most = 103): string {
  if (label === undefined || label === id) return oneLine(id, Math.min(60, most))
  const own = ` (${oneLine(id, 40)})`
  return own.length + 8 > most
    ? oneLine(id, most)
    : `${oneLine(label, Math.min(60, most - own.length))}${own}`
}

function facts(node: NodeView, now: number): string {
  const { status, attempts, startedAt, endedAt, detail, iterations, joins } = node
  const parts = [
    iterations === undefined ? '' : `${iterations.ended}/${iterations.total}`,
    iterations === undefined || iterations.failed === 0 ? '' : `${iterations.failed} failed`,
    attempts > 1 ? `attempt ${attempts}` : '',
    startedAt === undefined || status === 'skipped' ? '' : spell((endedAt ?? now) - startedAt),
    joins === undefined || status !== 'pending' ? '' : oneLine(`after ${joins.join(', ')}`),
    detail === undefined ? '' : oneLine(detail),
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : `  ${parts.join(', ')}`
}

interface TreeRow {
  readonly node: NodeView
  /** The tree lines in front of the node. */
  readonly branch: string
}

/** Maximum depth of drawn branches; deeper ones would use too much width. */
const deepest = 12

function arrangeTree(nodes: readonly NodeView[]): TreeRow[] {
  const children = new Map<string | undefined, NodeView[]>()
  for (const node of nodes) {
    const siblings = children.get(node.parent)
    if (siblings) siblings.push(node)
    else children.set(node.parent, [node])
  }
  const placed: TreeRow[] = []
  const open: { node: NodeView; branch: string; below: string; depth: number }[] = []
  const push = (parent: string | undefined, below: string, depth: number) => {
    const siblings = children.get(parent) ?? []
    for (const [back, node] of [...siblings].reverse().entries()) {
      const last = back === 0
      const flat = depth === 0 || depth > deepest
      open.push({
        node,
        branch: flat ? below : `${below}${last ? '└─ ' : '├─ '}`,
        below: flat ? below : `${below}${last ? '   ' : '│  '}`,
        depth,
      })
    }
  }
  push(undefined, '', 0)
  for (let next = open.pop(); next; next = open.pop()) {
    placed.push({ node: next.node, branch: next.branch })
    push(next.node.id, next.below, next.depth + 1)
  }
  return placed
}

const urgency: Partial<Record<ShownStatus, number>> = {
  error: 0,
  awaiting_hitl: 0,
  running: 1,
  judging: 1,
  waiting: 2,
}

/** Selects nodes when not all fit: first those waiting for a person, then active ones, then the rest, in tree order. */
function choose(placed: readonly TreeRow[], rows: number): readonly TreeRow[] {
  if (placed.length <= rows) return placed
  const room = Math.max(rows - 1, 0)
  const chosen = new Set(
    placed
      .map((entry, index) => ({ entry, index, rank: urgency[entry.node.status] ?? 3 }))
      .sort((one, other) => one.rank - other.rank || one.index - other.index)
      .slice(0, room)
      .map(({ entry }) => entry),
  )
  return placed.filter((entry) => chosen.has(entry))
}
