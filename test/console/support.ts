/** A real server with the built console, and pages of one Chromium per file. Every page fails its test on an error or a blocked resource. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type Page, selectors } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { launchChromium, missingChromium } from '../../scripts/chromium.mjs'
import type { App, AppOptions } from '../../src/index.ts'
import type { Server, ServerOptions } from '../../src/server/index.ts'
import { requireBuild, requireBuilt, root } from '../support.ts'

// A journey opens several pages, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

/** For `expect.poll`: pages poll every few seconds, and a busy machine takes its time. */
export const patient = { timeout: 60_000 } as const

export const skipped = missingChromium() !== undefined
export const consoleFolder = join(root, 'dist', 'ui')
export const adminToken = 'token-of-the-console-tests'

/** The built package: the console is a part of it. */
const load = <T>(path: string) => import(join(root, 'dist', path)) as Promise<T>
export const loadPackage = () => load<typeof import('../../src/index.ts')>('index.js')
export const loadPipelines = () => load<typeof import('../../src/pipeline/index.ts')>('pipeline/index.js')
export const loadServer = () => load<typeof import('../../src/server/index.ts')>('server/index.js')

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-console-'))
  folders.push(folder)
  return folder
}

let browser: Browser

export function useBrowser(): void {
  beforeAll(async () => {
    requireBuild()
    requireBuilt('ui')
    browser = await launchChromium()
    selectors.setTestIdAttribute('data-test')
  })
  afterAll(async () => browser?.close())
}

export interface ServedConsole {
  readonly app: App
  readonly server: Server
  readonly address: string
  tokenFor(role: 'caller' | 'operator' | 'admin', name: string): Promise<string>
  close(): Promise<void>
}

/** Serves the console on SQLite. With `store`, another server continues on the same file. */
export async function serveConsole(
  options: AppOptions = {},
  { port = 0, ...more }: ServerOptions & { readonly port?: number } = {},
): Promise<ServedConsole> {
  const { createApp } = await loadPackage()
  const { createServer, createToken } = await loadServer()
  const app = await createApp({
    store: `sqlite:${join(makeFolder(), 'runs.db')}`,
    http: { allowLoopback: true },
    ...options,
  })
  const server = createServer(
    { app },
    { auth: { token: adminToken }, console: { folder: consoleFolder }, ...more },
  )
  const address = await server.listen({ port })
  return {
    app,
    server,
    address,
    tokenFor: async (role, name) =>
      (await createToken(app.store.records.tokens, { role, tenant: 'default', name })).token,
    async close() {
      await server.close({ graceMs: 0 })
      await app.close({ graceMs: 0 })
    },
  }
}

/** Opens the console in a browser profile of its own, signed in by a token; without one, as a visitor. */
export async function openConsole(
  address: string,
  { token, path = '/', size = { width: 1280, height: 800 }, reducedMotion = 'reduce' }: OpenOptions = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const context = await browser.newContext({ viewport: size, reducedMotion, locale: 'en-GB' })
  if (token !== undefined)
    await context.addInitScript(`sessionStorage.setItem('proviso.token', ${JSON.stringify(token)})`)
  const page = await context.newPage()
  watchFaults(page)
  await page.goto(`${address}${path}`)
  return { page, context }
}

interface OpenOptions {
  readonly token?: string
  readonly path?: string
  readonly size?: { readonly width: number; readonly height: number }
  /** Default: `reduce`. */
  readonly reducedMotion?: 'reduce' | 'no-preference'
}

const faults = new WeakMap<Page, string[]>()

/** Collects uncaught errors, and everything that the Content-Security-Policy blocks. */
export function watchFaults(page: Page): void {
  const found: string[] = []
  faults.set(page, found)
  page.on('pageerror', (error) => found.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy|\[Vue warn\]/.test(message.text())) found.push(message.text())
  })
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
}

export async function closeConsole({
  page,
  context,
}: {
  readonly page: Page
  readonly context: BrowserContext
}) {
  expect(faults.get(page)).toEqual([])
  await context.close()
}
