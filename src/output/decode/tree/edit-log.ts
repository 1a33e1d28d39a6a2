/**
 * Edits in columns, as (rule, range, replacement), turned into objects only when they are read: most callers never read
 * them, and a text of a megabyte may need hundreds of thousands.
 */
import type { RuleName } from '../../rules.ts'
import type { TextEdit } from './tree.ts'

/** Fields per edit: the rule, the start, the end (inverted if the replacement is a value) and the replacement. */
const WIDTH = 4
/** Edits per page, as a power of two. */
const PAGE_BITS = 10
const IN_PAGE = (1 << PAGE_BITS) - 1

type Page = (RuleName | number | unknown)[]

/**
 * The edits of all values of one scan, in pages: one long array would be copied as it grows, and its copies stay on the
 * heap until the next full garbage collection. After a cut the pages are overwritten.
 */
export class EditLog {
  readonly #pages: Page[] = [[]]
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Replaces the range by a text of JSON punctuation. */
  addText(rule: RuleName, start: number, end: number, after: string): void {
    this.#add(rule, start, end, after)
  }

  /** Replaces the range by the JSON text of a value. */
  addValue(rule: RuleName, start: number, end: number, value: unknown): void {
    this.#add(rule, start, ~end, value)
  }

  #add(rule: RuleName, start: number, end: number, after: unknown): void {
    const index = this.#length++
    const number = index >> PAGE_BITS
    // The first page grows: most logs are short.
    if (number === this.#pages.length) this.#pages.push(new Array(WIDTH << PAGE_BITS))
    const page = this.#pages[number] as Page
    const at = (index & IN_PAGE) * WIDTH
    page[at] = rule
    page[at + 1] = start
    page[at + 2] = end
    page[at + 3] = after
  }

  #field(index: number, field: number): unknown {
    return (this.#pages[index >> PAGE_BITS] as Page)[(index & IN_PAGE) * WIDTH + field]
  }

  /** Rewrites the replacement of an earlier edit. */
  replaceText(index: number, after: string): void {
    const page = this.#pages[index >> PAGE_BITS] as Page
    const at = (index & IN_PAGE) * WIDTH
    const end = page[at + 2] as number
    if (end < 0) page[at + 2] = ~end
    page[at + 3] = after
  }

  /** Removes the edits from this index on. */
  cut(length: number): void {
    this.#length = length
  }

  ruleAt(index: number): RuleName {
    return this.#field(index, 0) as RuleName
  }

  startAt(index: number): number {
    return this.#field(index, 1) as number
  }

  at(index: number): TextEdit {
    const end = this.#field(index, 2) as number
    const after = this.#field(index, 3)
    const isText = end >= 0
    return {
      rule: this.ruleAt(index),
      start: this.startAt(index),
      end: isText ? end : ~end,
      after: isText ? (after as string) : { value: after },
    }
  }
}

/** The edits of one value: a range of a log. */
export class LoggedEdits {
  readonly #log: EditLog
  readonly #from: number
  declare readonly length: number

  constructor(log: EditLog, from: number, to: number) {
    this.#log = log
    this.#from = from
    this.length = to - from
  }

  static from(edits: readonly TextEdit[]): LoggedEdits {
    const log = new EditLog()
    for (const { rule, start, end, after } of edits) {
      if (typeof after === 'string') log.addText(rule, start, end, after)
      else log.addValue(rule, start, end, after.value)
    }
    return new LoggedEdits(log, 0, log.length)
  }

  ruleAt(index: number): RuleName {
    return this.#log.ruleAt(this.#from + index)
  }

  /** Whether any edit matches, by its rule and start. */
  some(matches: (rule: RuleName, start: number) => boolean): boolean {
    for (let index = 0; index < this.length; index++)
      if (matches(this.ruleAt(index), this.#log.startAt(this.#from + index))) return true
    return false
  }

  at(index: number): TextEdit {
    return this.#log.at(this.#from + index)
  }

  toList(): TextEdit[] {
    const list: TextEdit[] = []
    for (let index = 0; index < this.length; index++) list.push(this.at(index))
    return list
  }
}

/** The edits of values that need none. */
export const NO_EDITS = new LoggedEdits(new EditLog(), 0, 0)
