/** The client in Chromium, on a page of another origin and through a proxy that cuts connections. */
import { describe, expect, it } from 'vitest'
import { missingChromium } from '../../scripts/chromium.mjs'
import { serveFiles, withPage } from '../packages/chromium.ts'
import { flexToken } from '../server/support.ts'
import { requireBuild } from '../support.ts'
import { bundleClient } from './bundle-client.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { approvedTea, chain, findFaults, quick, serveSqlite, writing } from './support.ts'

const given = { envelope: approvedTea, draft: chain(8), token: flexToken, retry: { ...quick, attempts: 50 } }

const program = `
import { createClient } from './client.js'
const { envelope, draft, ...options } = ${JSON.stringify(given)}
globalThis.play = async (url) => {
  const client = createClient({ url, ...options })
  const run = await client.runs.start(envelope, { draft })
  for await (const ask of run.asks()) await ask.approve()
  const events = []
  for await (const event of run.events()) events.push(event)
  const refused = await createClient({ url, token: 'not-the-token-at-all' }).runs.get('r').catch((error) => error.code)
  return { events, output: await run.output(), refused }
}
globalThis.ready = true
`

describe.skipIf(missingChromium() !== undefined)('in Chromium', () => {
  it('starts, decides, follows and reads across origins, however often it is cut off', async () => {
    requireBuild()
    const page = '<!doctype html><script type="module" src="program.js"></script>'
    const files = new Map([
      ['/client.js', await bundleClient()],
      ['/program.js', program],
      ['/index.html', page],
    ])
    const site = await serveFiles(files, "default-src 'none'; script-src 'self'; connect-src *")
    const { address } = await serveSqlite(writing, { cors: [site.url], limits: { rate: false } })
    const proxy = await startCuttingProxy(address, 3)
    try {
      const played = await withPage(async (browser) => {
        await browser.goto(`${site.url}/index.html`)
        await browser.waitForFunction('globalThis.ready')
        return browser.evaluate(`globalThis.play(${JSON.stringify(proxy.url)})`)
      })
      const { events, output, refused } = played as { events: never[]; output: unknown; refused: string }
      expect(findFaults(events)).toEqual([])
      expect(output).toEqual({ text: 'Tea' })
      expect(refused).toBe('auth/invalid')
      expect(proxy.cuts).toBeGreaterThan(2)
    } finally {
      await proxy.close()
      await site.close()
    }
  })
})
