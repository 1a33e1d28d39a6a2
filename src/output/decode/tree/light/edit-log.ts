/** Replaces `edit-log.ts` in the light reader: the edits as a list of objects, which takes less code than columns. */
import type { RuleName } from '../../../rules.ts'
import type { TextEdit } from '../tree.ts'

/** The edits of all values of one scan. */
export class EditLog {
  readonly #edits: TextEdit[] = []

  get length(): number {
    return this.#edits.length
  }

  addText(rule: RuleName, start: number, end: number, after: TextEdit['after']): void {
    this.#edits.push({ rule, start, end, after })
  }

  addValue(rule: RuleName, start: number, end: number, value: unknown): void {
    this.addText(rule, start, end, { value })
  }

  replaceText(index: number, after: string): void {
    this.#edits[index] = { ...(this.#edits[index] as TextEdit), after }
  }

  cut(length: number): void {
    this.#edits.length = length
  }

  slice(from: number, to: number): TextEdit[] {
    return this.#edits.slice(from, to)
  }
}

/** The edits of one value. */
export class LoggedEdits {
  readonly #edits: TextEdit[]

  constructor(log: EditLog | readonly TextEdit[], from: number, to: number) {
    this.#edits = log.slice(from, to)
  }

  static from(edits: readonly TextEdit[]): LoggedEdits {
    return new LoggedEdits(edits, 0, edits.length)
  }

  get length(): number {
    return this.#edits.length
  }

  ruleAt(index: number): RuleName {
    return this.at(index).rule
  }

  some(matches: (rule: RuleName, start: number) => boolean): boolean {
    return this.#edits.some(({ rule, start }) => matches(rule, start))
  }

  at(index: number): TextEdit {
    return this.#edits[index] as TextEdit
  }

  toList(): TextEdit[] {
    return this.#edits
  }
}

export const NO_EDITS = LoggedEdits.from([])
