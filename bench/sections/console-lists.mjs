/** Ten thousand runs, twenty thousand events, and memory over many openings of the graph. */
import {
  beginRun,
  below,
  inBrowser,
  measureSmoothness,
  navigate,
  nodeCount,
  openPage,
  rounds,
  smooth,
} from '../lib/console.mjs'

export const measureList = inBrowser(async (bench) => {
  const count = bench.quick ? 1_000 : 10_000
  const [start] = bench.recorded.events
  const head = { status: 'completed', planVersion: 0 }
  for (let made = 0; made < count; made += 250)
    await Promise.all(
      Array.from({ length: 250 }, (_, index) =>
        bench.app.store.create({ runId: `many-${made + index}`, tenant: 'default', events: [start], head }),
      ),
    )
  const [first, frames, rows] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const { page, close } = await openPage(bench, '/capabilities')
    await page.locator('[data-test=capability]').first().waitFor()
    first.push(
      await page.evaluate(`new Promise((resolve) => {
        const begin = performance.now()
        new MutationObserver((_, observer) => {
          if (!document.querySelector('.runs-row')) return
          observer.disconnect()
          requestAnimationFrame(() => resolve(performance.now() - begin))
        }).observe(document, { childList: true, subtree: true })
        document.querySelector('.menu a[href="/runs"]').click()
      })`),
    )
    frames.push(await measureSmoothness(page, `document.querySelector('.runs-scroll').scrollBy(0, 60)`))
    rows.push(await page.locator('.runs-row').count())
    await close()
  }
  const name = `${count.toLocaleString('en')} runs`
  return [
    below(`${name}: first rows after the click`, first, { limit: 300 }),
    smooth(`${name}, scrolled`, frames),
    below(`${name}: rows in the page`, rows, { limit: 100, unit: '' }),
  ]
})

export const measureLongRun = inBrowser(async (bench) => {
  const wanted = bench.quick ? 4_000 : 20_000
  const write = await beginRun(bench, 'long')
  let written = 0
  while (written < wanted) written = await write(500)
  const [shown, whole] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const { page, close } = await openPage(bench, '/capabilities')
    await page.locator('[data-test=capability]').first().waitFor()
    // The code of the page is loaded, as it is for a person who comes from another run.
    await page.evaluate(navigate(`/runs/${bench.recorded.runId}?tab=timeline`, '[data-event]'))
    const begin = Date.now()
    const last = [written, written - 1].map((seq) => `[data-event="${seq}"]`).join(', ')
    shown.push(await page.evaluate(navigate('/runs/long?tab=timeline&all=1', last)))
    await page.locator('[data-test=run-status]').waitFor({ timeout: 120_000 })
    whole.push(Date.now() - begin)
    await close()
  }
  const name = `${wanted.toLocaleString('en')} events`
  return [
    below(`${name}: last 200 shown`, shown, { limit: 500 }),
    below(`${name}: whole run folded`, whole, {}),
  ]
})

/** The graph is opened again and again; what is kept must not grow. */
export const measureMemory = inBrowser(async (bench) => {
  const { page, close } = await openPage(bench, '/capabilities')
  const session = await page.context().newCDPSession(page)
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage')
    return (await session.send('Runtime.getHeapUsage')).usedSize
  }
  const openings = bench.quick ? 10 : 50
  let [before, after] = [0, 0]
  for (let opened = 0; opened < openings; opened++) {
    await page.evaluate(navigate(`/runs/${bench.recorded.runId}`, `[data-graph-node=n${nodeCount - 1}]`))
    // Collected every time: the tables of weak maps grow with what is not collected yet, and do not shrink.
    after = await heap()
    // The first openings fill caches.
    if (opened === 4) before = after
    await page.evaluate(navigate('/capabilities', '[data-test=capability]'))
  }
  const growth = (after - before) / before
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1)
  await close()
  return [
    below(
      `heap with the graph, opening 5 to ${openings} (${megabytes(before)} to ${megabytes(after)} MB), growth`,
      [growth * 100],
      {
        limit: 10,
        unit: '%',
        digits: 1,
      },
    ),
  ]
})
