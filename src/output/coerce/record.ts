/**
 * The record of a conversion: changes, issues, chosen branches. A persistent (append-only) linked list, so that rolling
 * back to a mark and replaying a recorded part are O(1): unions nest, and copying the record at every level would
 * multiply the cost by the depth.
 */

import type { Pointer } from '../../base/pointer.ts'
import type { ReaderIssue } from '../issue-table.ts'
import { type RuleName, rules } from '../rules.ts'

/** A change of the value. Changes are kept in the order in which they were made. */
export interface ValueChange {
  readonly rule: RuleName
  readonly pointer: Pointer
  readonly before: unknown
  readonly after: unknown
}

/** What was recorded for the value at `pointer`: one of the others. */
interface Entry {
  readonly pointer: Pointer
  readonly change?: ValueChange
  readonly issue?: ReaderIssue
  /** Index of the chosen branch. */
  readonly branch?: number
  /** A part recorded for the value at `from`, replayed. */
  readonly again?: { readonly part: Part; readonly from: Pointer }
}

interface Link {
  readonly before: Link | undefined
  readonly entry: Entry
}

/** A point to which a record can be rolled back. */
interface Mark {
  readonly last: Link | undefined
  readonly cost: number
  readonly issues: number
  readonly lost: number
}

/** The entries between two marks. */
export interface Part {
  readonly from: Mark
  readonly to: Mark
}

export interface Recorded {
  readonly changes: readonly ValueChange[]
  readonly issues: readonly ReaderIssue[]
  /** A later choice for a pointer replaces an earlier one. */
  readonly branches: Readonly<Record<Pointer, number>>
  readonly cost: number
}

export class ConversionRecord {
  #at: Mark = START

  /** The current end of the record. */
  get mark(): Mark {
    return this.#at
  }

  restore(mark: Mark): void {
    this.#at = mark
  }

  change(change: ValueChange): void {
    const { last, cost, issues, lost } = this.#at
    const { pointer, rule } = change
    // Field by field: there may be a million changes.
    this.#at = {
      last: { before: last, entry: { pointer, change } },
      cost: cost + rules[rule].cost,
      issues,
      lost: lost + computeLoss(change),
    }
  }

  issue(pointer: Pointer, issue: Omit<ReaderIssue, 'at'>): void {
    this.#add({ pointer, issue: { ...issue, at: { pointer } } }, { issues: this.#at.issues + 1 })
  }

  branch(pointer: Pointer, branch: number): void {
    this.#add({ pointer, branch }, {})
  }

  since(from: Mark): Part {
    return { from, to: this.#at }
  }

  /** Replays a part: entries recorded for the value at pointer `from` now apply to the one at `to`. */
  again(part: Part, from: Pointer, to: Pointer): void {
    const { cost, issues, lost } = this.#at
    this.#add(
      { pointer: to, again: { part, from } },
      {
        cost: cost + part.to.cost - part.from.cost,
        issues: issues + part.to.issues - part.from.issues,
        lost: lost + part.to.lost - part.from.lost,
      },
    )
  }

  #add(entry: Entry, changes: Partial<Mark>): void {
    this.#at = { ...this.#at, ...changes, last: { before: this.#at.last, entry } }
  }

  /** All entries, in order. */
  read(): Recorded {
    const changes: ValueChange[] = []
    const issues: ReaderIssue[] = []
    const branches: [Pointer, number][] = []
    for (const { pointer, change, issue, branch } of toEntries({ from: START, to: this.#at })) {
      if (change !== undefined) changes.push(change.pointer === pointer ? change : { ...change, pointer })
      else if (issue !== undefined) issues.push({ ...issue, at: { pointer } })
      else if (branch !== undefined) branches.push([pointer, branch])
    }
    return { changes, issues, branches: Object.fromEntries(branches), cost: this.#at.cost }
  }
}

const START: Mark = { last: undefined, cost: 0, issues: 0, lost: 0 }

/** How the pointers of a part are rebased: `prefix` replaces their first `cut` characters. */
interface Move {
  readonly cut: number
  readonly prefix: string
}

function toEntries(whole: Part): Entry[] {
  const entries: Entry[] = []
  // From the end to the beginning; a replayed part is expanded where it occurs.
  const open = [{ at: whole.to.last, stop: whole.from.last, move: { cut: 0, prefix: '' } as Move }]
  for (let part = open.at(-1); part !== undefined; part = open.at(-1)) {
    const link = part.at
    if (link === part.stop || link === undefined) {
      open.pop()
      continue
    }
    part.at = link.before
    const { entry } = link
    const { again } = entry
    const pointer = part.move.prefix + entry.pointer.slice(part.move.cut)
    if (again === undefined) entries.push(pointer === entry.pointer ? entry : { ...entry, pointer })
    else
      open.push({
        at: again.part.to.last,
        stop: again.part.from.last,
        move: { cut: again.from.length, prefix: pointer },
      })
  }
  return entries.reverse()
}

/** Loss of a change: 1 for dropped data, 0.5 for a renamed key, so that a branch with the key as written ranks first. */
function computeLoss({ rule, after }: ValueChange): number {
  return after === undefined ? 1 : rule === 'key' ? 0.5 : 0
}
