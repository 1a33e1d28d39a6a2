/**
 * Edits in columns, as (rule, range, replacement), turned into objects only when they are read: most callers never read
 * them, and a text of a megabyte may need hundreds of thousands.
 */
import type { RuleName } from '../../rules.ts'
import type { TextEdit } from './tree.ts'

/** Numbers per edit: the start, and the end, inverted if the replacement is a value. */
const WIDTH = 2

/**
 * The edits of all values of one scan. The columns may be longer than the log: after a cut they are overwritten, because
 * setting the length of an array is slow.
 */
export class EditLog {
  readonly #rules: RuleName[] = []
  readonly #ranges: number[] = []
  readonly #afters: unknown[] = []
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
    const at = this.#length++
    this.#rules[at] = rule
    this.#ranges[at * WIDTH] = start
    this.#ranges[at * WIDTH + 1] = end
    this.#afters[at] = after
  }

  /** Rewrites the replacement of an earlier edit. */
  replaceText(index: number, after: string): void {
    const end = this.#ranges[index * WIDTH + 1] as number
    if (end < 0) this.#ranges[index * WIDTH + 1] = ~end
    this.#afters[index] = after
  }

  /** Removes the edits from this index on. */
  cut(length: number): void {
    this.#length = length
  }

  ruleAt(index: number): RuleName {
    return this.#rules[index] as RuleName
  }

  startAt(index: number): number {
    return this.#ranges[index * WIDTH] as number
  }

  at(index: number): TextEdit {
    const after = this.#afters[index]
    const end = this.#ranges[index * WIDTH + 1] as number
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
