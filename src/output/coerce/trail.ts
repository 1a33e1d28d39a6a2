/** Path from the root to the current value. The JSON pointer of each level is built once and cached. */
import { child, type Pointer } from '../../base/pointer.ts'

export class Trail {
  readonly steps: (string | number)[] = []
  readonly #pointers: Pointer[] = []

  enter(step: string | number): void {
    this.steps.push(step)
  }

  leave(): void {
    this.steps.pop()
    if (this.#pointers.length > this.steps.length) this.#pointers.pop()
  }

  get pointer(): Pointer {
    const pointers = this.#pointers
    for (let depth = pointers.length; depth < this.steps.length; depth++)
      pointers.push(child(pointers[depth - 1] ?? '', this.steps[depth] as string | number))
    return pointers.at(-1) ?? ''
  }
}
