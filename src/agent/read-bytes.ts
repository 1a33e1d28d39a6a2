/** Reads a body within a limit. */

/** Returns undefined as soon as the body is longer than `maxBytes`. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
