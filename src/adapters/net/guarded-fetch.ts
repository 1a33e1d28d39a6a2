/** Reads a small text from a URL, or posts a form to it, only from addresses that the filter allows and without following redirects. */
import { type AddressFilterOptions, createAddressFilter } from './address-filter.ts'

/** Longest text: key sets and the like. */
const mostBytes = 262_144

export interface ReadText {
  (
    url: string,
    signal: AbortSignal,
    form?: URLSearchParams,
  ): Promise<{ readonly status: number; readonly text: string }>
  close(): Promise<void>
}

export function createReadText(rules: Pick<AddressFilterOptions, 'allow' | 'allowLoopback'>): ReadText {
  // The operator chose the host, so any port is allowed.
  const filter = createAddressFilter({ ...rules, ports: 'any' })
  const read = async (url: string, signal: AbortSignal, form?: URLSearchParams) => {
    const refused = filter.check(url)
    if (refused) throw new Error(refused.message)
    const { request } = await import('undici')
    const { statusCode: status, body } = await request(url, {
      headers: {
        accept: 'application/json',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: form.toString() }),
      signal,
      dispatcher: await filter.connections(),
    })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new Error(`The answer has more than ${mostBytes} bytes`)
      chunks.push(chunk)
    }
    return { status, text: Buffer.concat(chunks).toString('utf8') }
  }
  return Object.assign(read, { close: () => filter.close() })
}
