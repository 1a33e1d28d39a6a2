/** Stands in for `keep-alive.ts`: what reads few long texts does without. */
export function keepAlive(_name: string, _make: () => unknown): void {}
