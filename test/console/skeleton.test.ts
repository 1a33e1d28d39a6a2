/** The console as it is delivered: its files and their headers, signing in, and what each role sees. */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminToken,
  closeConsole,
  loadServer,
  openConsole,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

let served: ServedConsole
beforeAll(async () => {
  served = await serveConsole()
})
afterAll(() => served?.close())

describe('the files of the console', () => {
  it('come with a strict policy, compressed, and are revalidated', async () => {
    const page = await fetch(`${served.address}/runs/some-run`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('content-encoding')).toBe('gzip')
    const html = await page.text()
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/)
    const again = await fetch(`${served.address}/`, {
      headers: { 'if-none-match': page.headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    const [script = ''] = /\/assets\/[\w-]+\.js/.exec(html) ?? []
    const asset = await fetch(`${served.address}${script}`)
    expect(asset.headers.get('cache-control')).toContain('immutable')
  })

  it('are nothing else: other paths stay what they were, and no path leads out of the folder', async () => {
    for (const path of ['/api/v1/flex/nothing', '/assets/none.js', '/secret', '/..%2f..%2fpackage.json'])
      expect((await fetch(`${served.address}${path}`)).status).toBe(404)
    expect((await fetch(`${served.address}/runs`, { method: 'POST' })).status).toBe(404)
  })

  it('without the flag there is no sandbox: no page and no API', async () => {
    const headers = { authorization: `Bearer ${adminToken}` }
    for (const path of ['/flex/sandbox', '/api/v1/flex/sandbox/metadata'])
      expect((await fetch(`${served.address}${path}`, { headers })).status).toBe(404)
  })
})

describe.skipIf(skipped)('the console in Chromium', () => {
  useBrowser()

  it('asks for a token, refuses a wrong one, and keeps the right one for the tab only', async () => {
    const opened = await openConsole(served.address)
    const { page, context } = opened
    await page.getByLabel('Token').fill('pvs_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Token').fill(adminToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(adminToken)
    expect(await context.cookies()).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(adminToken)
    await closeConsole(opened)
  })

  it('shows each role its own menu', async () => {
    const menu = async (token: string) => {
      const opened = await openConsole(served.address, { token })
      const names = await opened.page.getByRole('navigation').getByRole('link').allTextContents()
      await closeConsole(opened)
      return names.map((name) => name.trim().replace(/\s+\d+$/, ''))
    }
    expect(await menu(await served.tokenFor('caller', 'carl'))).toEqual([
      'Runs',
      'Threads',
      'Compose',
      'Capabilities',
    ])
    expect(await menu(await served.tokenFor('operator', 'olga'))).toEqual([
      'Runs',
      'Inbox',
      'Threads',
      'Compose',
      'Capabilities',
      'Health',
    ])
  })

  it('needs no token in development mode, and has the sandbox with its flag', async () => {
    const { sandboxRoutes } = await loadServer()
    const dev = await serveConsole(
      {},
      {
        auth: { open: true },
        routes: sandboxRoutes({ generate: async () => Promise.reject(new Error('unused')) }),
      },
    )
    const opened = await openConsole(dev.address, { path: '/' })
    await opened.page.getByText('Development mode').waitFor()
    expect(await opened.page.getByRole('link', { name: 'Sandbox' }).count()).toBe(1)
    expect((await fetch(`${dev.address}/flex/sandbox`)).status).toBe(200)
    await closeConsole(opened)
    await dev.close()
  })

  it('loads less than 300 KB, gzipped, for the first page', async () => {
    const opened = await openConsole(served.address, { token: adminToken })
    await opened.page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    const urls = await opened.page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .filter((name) => name.includes('/assets/')),
    )
    let bytes = 0
    for (const url of urls) bytes += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length
    expect(urls.length).toBeGreaterThan(1)
    expect(bytes).toBeLessThan(300_000)
    await closeConsole(opened)
  })
})
