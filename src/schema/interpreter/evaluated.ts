/** Which members of one object or array have been evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Evaluated {
  readonly names = new Set<string>()
  readonly indices = new Set<number>()
  allNames = false
  allItems = false
  /** The items before this index are evaluated. */
  prefix = 0

  fresh(): Evaluated {
    return new Evaluated()
  }

  add(other: Evaluated): void {
    for (const name of other.names) this.names.add(name)
    for (const index of other.indices) this.indices.add(index)
    this.allNames ||= other.allNames
    this.allItems ||= other.allItems
    this.prefix = Math.max(this.prefix, other.prefix)
  }

  hasName(name: string): boolean {
    return this.allNames || this.names.has(name)
  }

  hasItem(index: number): boolean {
    return this.allItems || index < this.prefix || this.indices.has(index)
  }
}
