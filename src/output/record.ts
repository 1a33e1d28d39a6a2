/**
 * What a conversion has recorded: changes, issues, branches chosen. A linked list that only grows at its end, so that
 * returning to an earlier point, and recording again what was recorded once, take one step however much it is: unions
 * nest, and copying the record at every level would cost the depth once more.
 */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import { type RuleName, rules } from './rules.ts'

/** A change of the value, in the order in which it was made. */
export interface ValueChange {
  readonly rule: RuleName
  readonly pointer: Pointer
  readonly before: unknown
  readonly after: unknown
}

type Entry =
  | { readonly kind: 'change'; readonly change: ValueChange }
  | { readonly kind: 'issue'; readonly issue: Issue }
  | { readonly kind: 'branch'; readonly pointer: Pointer; readonly index: number }
  | { readonly kind: 'again'; readonly part: Part }

interface Link {
  readonly before: Link | undefined
  readonly entry: Entry
}

/** A point to which a record can return. */
export interface Mark {
  readonly last: Link | undefined
  readonly cost: number
  readonly issues: number
  readonly lost: number
}

/** What was recorded between two points. */
export interface Part {
  readonly from: Mark
  readonly to: Mark
}

export interface Recorded {
  readonly changes: readonly ValueChange[]
  readonly issues: readonly Issue[]
  /** A later choice for a pointer replaces an earlier one. */
  readonly branches: Readonly<Record<Pointer, number>>
  readonly cost: number
}

export class ConversionRecord {
  #at: Mark = START

  /** Where the record ends now. */
  get mark(): Mark {
    return this.#at
  }

  restore(mark: Mark): void {
    this.#at = mark
  }

  change(change: ValueChange): void {
    const { cost, lost } = this.#at
    this.#add(
      { kind: 'change', change },
      { cost: cost + rules[change.rule].cost, lost: lost + lossOf(change) },
    )
  }

  issue(issue: Issue): void {
    this.#add({ kind: 'issue', issue }, { issues: this.#at.issues + 1 })
  }

  branch(pointer: Pointer, index: number): void {
    this.#add({ kind: 'branch', pointer, index }, {})
  }

  since(from: Mark): Part {
    return { from, to: this.#at }
  }

  /** Records a part once more. */
  again(part: Part): void {
    const { cost, issues, lost } = this.#at
    const { from, to } = part
    this.#add(
      { kind: 'again', part },
      {
        cost: cost + to.cost - from.cost,
        issues: issues + to.issues - from.issues,
        lost: lost + to.lost - from.lost,
      },
    )
  }

  #add(entry: Entry, changes: Partial<Mark>): void {
    this.#at = { ...this.#at, ...changes, last: { before: this.#at.last, entry } }
  }

  /** Everything, in order. */
  read(): Recorded {
    const entries = entriesOf({ from: START, to: this.#at })
    return {
      changes: entries.flatMap((entry) => (entry.kind === 'change' ? [entry.change] : [])),
      issues: entries.flatMap((entry) => (entry.kind === 'issue' ? [entry.issue] : [])),
      branches: Object.fromEntries(
        entries.flatMap((entry) => (entry.kind === 'branch' ? [[entry.pointer, entry.index]] : [])),
      ),
      cost: this.#at.cost,
    }
  }
}

const START: Mark = { last: undefined, cost: 0, issues: 0, lost: 0 }

function entriesOf(whole: Part): Entry[] {
  const entries: Entry[] = []
  // From the end to the beginning; a part that was recorded again is gone through where it stands.
  const open = [{ at: whole.to.last, stop: whole.from.last }]
  for (let part = open.at(-1); part !== undefined; part = open.at(-1)) {
    const link = part.at
    if (link === part.stop || link === undefined) {
      open.pop()
      continue
    }
    part.at = link.before
    if (link.entry.kind === 'again')
      open.push({ at: link.entry.part.to.last, stop: link.entry.part.from.last })
    else entries.push(link.entry)
  }
  return entries.reverse()
}

/** What a change throws away, and half of that for what it renames: a branch that has the key as written comes first. */
function lossOf({ rule, after }: ValueChange): number {
  return after === undefined ? 1 : rule === 'key' ? 0.5 : 0
}
