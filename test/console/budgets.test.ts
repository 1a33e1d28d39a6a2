/** Sizes that slow consoles down. Times are measured by `npm run bench -- console`; what is counted here does not depend on the machine. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { requireBuilt } from '../support.ts'
import {
  adminToken,
  closeConsole,
  consoleFolder,
  openConsole,
  patient,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

/** Gzipped kilobytes of the files whose names begin so. */
function sizeOf(...names: readonly string[]): number {
  requireBuilt('ui')
  const folder = join(consoleFolder, 'assets')
  const files = readdirSync(folder).filter((file) => names.some((name) => file.startsWith(name)))
  expect(files.length).toBeGreaterThanOrEqual(names.length)
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0) / 1_000
}

describe('the parts that are loaded when they are needed', () => {
  it.each([
    ['graph', 75, ['plan-graph', 'layout-worker']],
    ['editor', 150, ['code-editor']],
    ['charts', 25, ['trend-chart']],
  ] as const)('%s: at most %d KB, gzipped', (_name, most, names) => {
    expect(sizeOf(...names)).toBeLessThan(most)
  })
})

describe.skipIf(skipped)('a long list', () => {
  useBrowser()

  it('of runs has at most 100 rows in the page, at its beginning, its middle and its end', async () => {
    const served = await serveConsole()
    const { store } = served.app
    const envelope = { objective: 'Tea', outputContract: { schema: {} } }
    const start = {
      type: 'start',
      version: 1,
      at: Date.now(),
      planVersion: 0,
      payload: { envelope, correlationId: 'c', schemaHash: 'h' },
    }
    const head = { status: 'completed', planVersion: 0 } as const
    const count = 450
    for (let index = 0; index < count; index++)
      await store.create({
        runId: `many-${index}`,
        tenant: 'default',
        events: [
          { ...start, payload: { ...start.payload, envelope: { ...envelope, objective: `Tea ${index}` } } },
        ],
        head,
      } as never)
    const opened = await openConsole(served.address, { token: adminToken })
    const { page } = opened
    await page.locator('.runs-row').first().waitFor()
    const rows = () => page.locator('.runs-row').count()
    const scrollDown = () => page.evaluate(`document.querySelector('.runs-scroll').scrollBy(0, 1_000_000)`)
    expect(await rows()).toBeLessThanOrEqual(100)
    // Pages are read while the list is scrolled, until the first run is there.
    await expect
      .poll(async () => {
        await scrollDown()
        expect(await rows()).toBeLessThanOrEqual(100)
        return page.getByText('Tea 0', { exact: true }).count()
      }, patient)
      .toBe(1)
    await closeConsole(opened)
    await served.close()
  })
})
