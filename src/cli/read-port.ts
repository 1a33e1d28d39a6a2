/** A port as people write it: 0 to 65535, where 0 takes a free one. */
export function readPort(text: string): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value <= 65_535 ? value : undefined
}
