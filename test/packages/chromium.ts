/** Serves files on loopback under a Content-Security-Policy and opens them in Chromium. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../scripts/chromium.mjs'

export const strictPolicy = "default-src 'none'; script-src 'self'"

export interface Site {
  readonly url: string
  close(): Promise<void>
}

const kinds: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Serves the given files, path to content; everything else is 404. */
export async function serveFiles(files: ReadonlyMap<string, string>, policy = strictPolicy): Promise<Site> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const content = files.get(path)
    if (content === undefined) return response.writeHead(404).end()
    const kind = kinds[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain'
    return response.writeHead(200, { 'content-type': kind, 'content-security-policy': policy }).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Opens a page of its own in Chromium and closes the browser at the end. */
export async function withPage<T>(use: (page: Page) => Promise<T>): Promise<T> {
  const browser = await launchChromium()
  try {
    return await use(await browser.newPage())
  } finally {
    await browser.close()
  }
}
