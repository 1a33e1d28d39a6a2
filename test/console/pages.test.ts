/** Every page in both themes: accessible by the rules of axe; and large plans and long lists stay quick. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  agentEnvelope,
  carefulEnvelope,
  demoCapabilities,
  demoProvider,
  legalEnvelope,
  postDraft,
  postEnvelope,
  sayInThread,
} from '../../scripts/console-demo.mjs'
import {
  adminToken,
  closeConsole,
  consoleFolder,
  loadPackage,
  loadServer,
  openConsole,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Serious and critical violations, as one line each. */
async function findViolations(page: Page): Promise<string[]> {
  // Evaluated through the protocol, which the policy of the page does not concern.
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    ).axe.run()
    return violations
  })
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html.slice(0, 160))
          .slice(0, 3)
          .join(' | ')}`,
    )
}

/** Whether the buttons beside a title lie over it. */
const hasOverlap = `(() => {
  const [title, buttons] = ['h1', '.page-head > .row'].map((at) => document.querySelector(at)?.getBoundingClientRect())
  if (!title || !buttons) return false
  const range = document.createRange()
  range.selectNodeContents(document.querySelector('h1'))
  return [...range.getClientRects()].some((line) => line.right > buttons.left && line.left < buttons.right && line.bottom > buttons.top && line.top < buttons.bottom)
})()`

const gapUnderActions = `document.querySelector('.menu').getBoundingClientRect().top - document.querySelector('.actions').getBoundingClientRect().bottom`

describe.skipIf(skipped)('every page', () => {
  useBrowser()
  let served: ServedConsole
  let pages: readonly (readonly [path: string, selector: string])[]

  beforeAll(async () => {
    const pkg = await loadPackage()
    const { sandboxRoutes } = await loadServer()
    const routes = sandboxRoutes({ generate: (request) => served.app.generate(request) })
    served = await serveConsole(
      { capabilities: demoCapabilities(pkg).capabilities, providers: [demoProvider()] },
      { routes },
    )
    const run = async (envelope: object, draft?: object) =>
      (await served.app.run(envelope as never, draft ? { draft: draft as never } : {})).runId
    const done = await run(postEnvelope, postDraft)
    const waiting = await run(carefulEnvelope)
    await run(legalEnvelope)
    const agent = await run(agentEnvelope)
    await sayInThread(served.app, 'ann')
    pages = [
      ['/runs', '.runs-row'],
      ['/runs?q=nothing-matches-this', '.empty'],
      [`/runs/${done}?node=write`, '[data-graph-node=write]'],
      [`/runs/${done}?tab=timeline`, '.timeline li'],
      [`/runs/${done}?tab=proof`, '[data-test=proof-answer]'],
      [`/runs/${done}?tab=output`, '[data-test=output] pre'],
      [`/runs/${waiting}?tab=replay`, '[data-test=what-if]'],
      [`/runs/${agent}`, '[data-test=turn]'],
      ['/runs/no-such-run', '[role=alert]'],
      ['/inbox', '[data-test=ask]'],
      ['/inbox?view=mine', '[data-test=empty]'],
      ['/threads', '[data-thread=ann]'],
      // With an ask that is answered in place, and a message that waits.
      ['/threads/ann', '.conversation [data-test=ask]'],
      ['/threads/no-such-thread', '.conversation [role=alert]'],
      ['/compose', '[data-test=proof]'],
      ['/flex/sandbox', '[data-test=chat]'],
      ['/capabilities', '[data-test=capability]'],
      ['/health', '[data-test=chart] canvas'],
      ['/nothing-here', '.empty'],
    ]
  })
  afterAll(() => served?.close())

  it.each(['light', 'dark'] as const)('has no serious violation of axe, %s', async (theme) => {
    const opened = await openConsole(served.address, { token: adminToken })
    const { page } = opened
    await page.emulateMedia({ colorScheme: theme })
    const found: string[] = []
    for (const [path, selector] of pages) {
      await page.goto(`${served.address}${path}`)
      await page.locator(selector).first().waitFor()
      found.push(...(await findViolations(page)).map((line) => `${path} ${line}`))
    }
    await page.goto(`${served.address}/inbox`)
    await page.getByTestId('ask').waitFor()
    // The form of an answer, and the one of a rejection.
    await page.keyboard.press('e')
    await page.getByTestId('ask-form').waitFor()
    found.push(...(await findViolations(page)).map((line) => `edit ${line}`))
    await page.getByRole('button', { name: 'Back' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    found.push(...(await findViolations(page)).map((line) => `help ${line}`))
    expect(found).toEqual([])
    await closeConsole(opened)
  })

  it('fits a phone: no page scrolls sideways, and the inbox decides', async () => {
    const opened = await openConsole(served.address, {
      token: adminToken,
      size: { width: 390, height: 844 },
    })
    const { page } = opened
    const wide: string[] = []
    // The graph is for wide screens; the list of nodes shows the same.
    const onPhone = pages.map(([path, selector]) =>
      selector.startsWith('[data-graph-node')
        ? ([path, '[data-node=write]'] as const)
        : ([path, selector] as const),
    )
    for (const [path, selector] of onPhone) {
      await page.goto(`${served.address}${path}`)
      await page.locator(selector).first().waitFor()
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
      if (width > 390) wide.push(`${path}: ${width} px`)
      if (await page.evaluate(hasOverlap)) wide.push(`${path}: buttons cover the title`)
      const found = await findViolations(page)
      wide.push(...found.map((line) => `${path} ${line}`))
    }
    expect(wide).toEqual([])
    await page.goto(`${served.address}/inbox`)
    await page.getByTestId('ask').waitFor()
    const approve = page.getByRole('button', { name: /^Approve/ })
    const box = await approve.boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(44)
    // No text shows between the buttons and the menu.
    expect(await page.evaluate(gapUnderActions)).toBeLessThanOrEqual(0)
    await page.getByRole('button', { name: /^Reject/ }).click()
    await page.getByLabel('Why, and what should be different').fill('Shorter, please')
    await page.getByRole('button', { name: 'Back' }).click()
    await approve.click()
    await page.getByTestId('said').getByText('Approved').waitFor()
    await closeConsole(opened)
  })

  it('has no serious violation with a dialog open, in error states and in empty ones', async () => {
    const empty = await serveConsole({}, { console: { folder: consoleFolder, createPost: true } })
    const opened = await openConsole(empty.address, { token: adminToken })
    const { page } = opened
    const found: string[] = []
    const check = async (name: string) =>
      found.push(...(await findViolations(page)).map((line) => `${name} ${line}`))
    for (const path of ['/runs', '/inbox', '/inbox?view=decided', '/threads', '/health']) {
      await page.goto(`${empty.address}${path}`)
      await page.locator('.empty').first().waitFor()
      await check(path)
    }
    await page.goto(`${empty.address}/threads`)
    await page.getByRole('button', { name: 'Memory' }).click()
    await page.getByTestId('no-memories').waitFor()
    await check('memory')
    await page.goto(`${empty.address}/compose`)
    await page.getByRole('button', { name: 'Create post…' }).click()
    await page.getByRole('dialog', { name: 'Create post' }).waitFor()
    await check('create post')
    await empty.close()
    await page.goto(`${served.address}/runs`)
    await page.locator('.runs-row').first().waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByRole('alert').first().waitFor({ timeout: 60_000 })
    await check('unreachable')
    expect(found).toEqual([])
    await closeConsole(opened)
  })

  it('the first page for a visitor has no serious violation either', async () => {
    const opened = await openConsole(served.address)
    await opened.page.getByLabel('Token').waitFor()
    expect(await findViolations(opened.page)).toEqual([])
    await closeConsole(opened)
  })
})
