/** Whether a caller who may have either wants the stream: asked for by name, for a page is what everybody can read. */
export function acceptsStream(accept = ''): boolean {
  return accept.includes('text/event-stream')
}
