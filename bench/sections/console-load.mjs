/** What a browser loads for the first page of the console, and the parts that are loaded when they are needed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { below, consoleFolder, inBrowser, openPage } from '../lib/console.mjs'

export const measureLoad = inBrowser(async (bench) => {
  const { page, close } = await openPage(bench, '/runs')
  await page.locator('.runs-row').first().waitFor()
  // The sizes as they came over the wire, answers of the API included.
  const bytes = await page.evaluate(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )
  await close()
  const part = (...names) => {
    const folder = join(consoleFolder, 'assets')
    const files = readdirSync(folder).filter((file) => names.some((name) => file.startsWith(name)))
    return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0) / 1_000
  }
  const kilobytes = (limit) => ({ limit, unit: 'KB' })
  return [
    below('first page, compressed', [bytes / 1_000], kilobytes(300)),
    below('graph, when a run is opened', [part('plan-graph', 'layout-worker')], kilobytes(75)),
    below('editor, when an envelope is written', [part('code-editor')], kilobytes(150)),
    below('charts, when health is opened', [part('trend-chart')], kilobytes(25)),
  ]
})
