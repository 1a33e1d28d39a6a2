/**
 * Keeps one object of every class that long texts need very often, never to be used itself. Without a live object, a full
 * garbage collection discards what the engine knows of a class and all code optimised for it: after each collection a
 * long text would first be read by slow code, and compiling it again would take longer than reading the text.
 */
const kept = new Map<string, unknown>()

/** Keeps the objects, in place of those kept before under this name. They must not hold texts or values of callers. */
export function keepAlive(name: string, make: () => unknown): void {
  kept.set(name, make())
}
