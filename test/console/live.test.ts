/** Pages that stay true while things happen: a killed server, many tabs, and addresses that are opened again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  approvedEnvelope,
  carefulEnvelope,
  demoCapabilities,
  demoProvider,
  postDraft,
  postEnvelope,
} from '../../scripts/console-demo.mjs'
import { root } from '../support.ts'
import {
  adminToken,
  closeConsole,
  loadPackage,
  makeFolder,
  openConsole,
  patient,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
  watchFaults,
} from './support.ts'

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts the server as a process, and returns its address. */
async function spawnServer(...args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'test/console/serve-console.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, found] = /serves on (\S+)\n/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  return { child, address }
}

describe.skipIf(skipped)('a page that is open while the process of the server is killed', () => {
  useBrowser()

  it('shows the run that another process finishes on the same file, event by event', async () => {
    const folder = makeFolder()
    const [store, gate] = [`sqlite:${join(folder, 'runs.db')}`, join(folder, 'gate')]
    const first = await spawnServer(store, '0', gate)
    const api = `${first.address}/api/v1/flex`
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    const draft = {
      nodes: [
        { id: 'one', capabilityId: 'first' },
        { id: 'two', capabilityId: 'second' },
      ],
      edges: [{ from: 'one', to: 'two' }],
      output: { node: 'two' },
    }
    const envelope = { objective: 'Survive', outputContract: { schema } }
    const begun = await fetch(`${api}/runs`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ envelope, draft }),
    })
    const { runId } = (await begun.json()) as { runId: string }
    const opened = await openConsole(first.address, { token: adminToken, path: `/runs/${runId}` })
    const { page } = opened
    const node = (id: string, status: string) =>
      page.locator(`[data-node=${id}][data-status=${status}]`).waitFor()
    await node('one', 'completed')
    await node('two', 'running')
    first.child.removeAllListeners('exit')
    first.child.kill('SIGKILL')
    await page.getByTestId('offline').waitFor()
    await spawnServer(store, new URL(first.address).port, gate)
    await page.getByTestId('offline').waitFor({ state: 'detached', timeout: 60_000 })
    writeFileSync(gate, '')
    await page.getByTestId('run-status').getByText('completed').waitFor({ timeout: 60_000 })
    await node('two', 'completed')
    const shown = await page.getByTestId('events').textContent()
    // The same page after a reload: the fold of the whole journal.
    await page.goto(`${first.address}/runs/${runId}?tab=output`)
    await page.getByTestId('output').getByText('done after').waitFor()
    expect(await page.getByTestId('events').textContent()).toBe(shown)
    await closeConsole(opened)
  })
})

describe.skipIf(skipped)('a live console', () => {
  useBrowser()
  let served: ServedConsole
  beforeAll(async () => {
    const demo = demoCapabilities(await loadPackage())
    served = await serveConsole({ capabilities: demo.capabilities, providers: [demoProvider()] })
  })
  afterAll(() => served?.close())

  it('in seven tabs of one browser follows a run in all of them with one stream', async () => {
    const { runId } = await served.app.run(approvedEnvelope)
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}` })
    const pages: Page[] = [opened.page]
    while (pages.length < 7) {
      const page = await opened.context.newPage()
      watchFaults(page)
      await page.goto(`${served.address}/runs/${runId}`)
      pages.push(page)
    }
    for (const page of pages) await page.getByTestId('run-status').getByText('waiting').waitFor()
    await expect.poll(() => served.server.streams, patient).toBe(1)
    const [ask] = await served.app.store.asks({ runId, status: 'pending' })
    await served.app.reply(runId, {
      requestId: ask?.requestId ?? '',
      valueHash: ask?.valueHash ?? '',
      decision: 'approve',
      by: 'ann',
    })
    for (const page of pages) await page.getByTestId('run-status').getByText('completed').waitFor()
    expect(served.server.streams).toBeLessThanOrEqual(1)
    await closeConsole(opened)
  })

  it('passes the stream on when the tab that had it is closed', async () => {
    const { runId } = await served.app.run(approvedEnvelope)
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}` })
    await opened.page.getByTestId('run-status').getByText('waiting').waitFor()
    const second = await opened.context.newPage()
    watchFaults(second)
    await second.goto(`${served.address}/runs/${runId}`)
    await second.getByTestId('run-status').getByText('waiting').waitFor()
    await expect.poll(() => served.server.streams, patient).toBe(1)
    await opened.page.close()
    const [ask] = await served.app.store.asks({ runId, status: 'pending' })
    await served.app.reply(runId, {
      requestId: ask?.requestId ?? '',
      valueHash: ask?.valueHash ?? '',
      decision: 'approve',
      by: 'ann',
    })
    await second.getByTestId('run-status').getByText('completed').waitFor()
    await closeConsole({ page: second, context: opened.context })
  })

  it('a new plan: both versions side by side, with what was removed and added, and why', async () => {
    const { runId } = await served.app.run(
      { ...postEnvelope, policies: { requiresHitlApproval: true } },
      { draft: postDraft },
    )
    const [ask] = await served.app.store.asks({ runId, status: 'pending' })
    const opened = await openConsole(served.address, {
      token: adminToken,
      path: `/inbox/${encodeURIComponent(ask?.requestId ?? '')}`,
    })
    const { page } = opened
    await page.getByTestId('ask-value').waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Why, and what should be different').fill('Another approach, please')
    await page.getByLabel('Then').selectOption('replan')
    await page.keyboard.press('Control+Enter')
    await page.getByTestId('said').getByText('Rejected').waitFor()
    await page.goto(`${served.address}/runs/${runId}?compare=1`)
    const change = page.getByTestId('plan-change')
    await change.getByText(/v2 against v1/).waitFor()
    expect(await change.locator('.removed').textContent()).toMatch(/research/)
    expect(await change.locator('.added').textContent()).toMatch(/^[1-9]/)
    await page.locator('.plan-node.removed').first().waitFor()
    await page.locator('.plan-node.added').first().waitFor()
    expect(await page.getByTestId('plan-compare').getByTestId('graph').count()).toBe(2)
    await page.getByRole('button', { name: 'v1', exact: true }).click()
    await page.locator('[data-node=research]').waitFor()
    await closeConsole(opened)
  })

  it('shows the same view at every address after a reload', async () => {
    const { runId } = await served.app.run(postEnvelope, { draft: postDraft })
    const { runId: waiting } = await served.app.run(carefulEnvelope)
    const [ask] = await served.app.store.asks({ runId: waiting, status: 'pending' })
    const run = `/runs/${runId}`
    const views: readonly (readonly [path: string, selector: string])[] = [
      ['/runs?status=completed&sort=cost&q=spring', '.runs-row'],
      ['/runs?minCost=0.001&maxCost=1', '.runs-row'],
      ['/runs?minCost=5', '.empty:has-text("No run matches")'],
      [`${run}?node=research`, '[data-test=node-panel][aria-label="Node research"]'],
      [`${run}?node=write&attempt=1`, '[data-test=raw]'],
      [`${run}?tab=timeline&at=5&all=1`, '[data-event="3"]'],
      [`${run}?tab=proof`, '[data-test=proof]'],
      [`${run}?tab=output`, '[data-test=output] pre'],
      [`${run}?tab=envelope`, '[aria-label=Envelope] pre'],
      [`${run}?tab=replay`, '[data-test=what-if]'],
      // Opens on the node that waits.
      [`/runs/${waiting}`, '[data-node][aria-current=true][data-status=waiting]'],
      [`/inbox/${encodeURIComponent(ask?.requestId ?? '')}`, '[data-test=ask-value]'],
      ['/inbox?view=mine', '[data-test=empty]'],
      ['/compose', '[data-test=proof]'],
      ['/capabilities', '[data-test=capability]'],
      ['/health?hours=168', '[aria-pressed=true]:has-text("Week")'],
    ]
    const opened = await openConsole(served.address, { token: adminToken })
    const { page } = opened
    for (const [path, selector] of views) {
      await page.goto(`${served.address}${path}`)
      await page.locator(selector).first().waitFor()
      await page.reload()
      await page.locator(selector).first().waitFor()
      expect(page.url()).toBe(`${served.address}${path}`)
    }
    await closeConsole(opened)
  })
})
