/** A plan of 300 nodes: how soon it is drawn, and how smoothly it is dragged while events arrive at a known rate. */
import {
  beginRun,
  below,
  inBrowser,
  measureSmoothness,
  nodeCount,
  openPage,
  rounds,
  smooth,
} from '../lib/console.mjs'

/** Notes when the parts of the page appear, and what blocks the main thread. */
const watchPage = `window.longTasks = []
new PerformanceObserver((list) => { for (const { startTime, duration } of list.getEntries()) window.longTasks.push({ startTime, duration }) }).observe({ type: 'longtask', buffered: true })
window.seen = {}
new MutationObserver(() => {
  const now = performance.now()
  if (!window.seen.outline && document.querySelector('[data-node=n${nodeCount - 1}]')) window.seen.outline = now
  if (!window.seen.graph && document.querySelectorAll('[data-graph-node]').length === ${nodeCount}) window.seen.graph = now
  if (!window.seen.data && document.querySelector('[data-test=run-status]')) window.seen.data = now
}).observe(document, { childList: true, subtree: true })`

/** The policy of the page forbids what evaluates texts in it; this goes through the protocol. */
const graphIsDrawn = `new Promise((resolve) => {
  const check = () => (window.seen.graph === undefined ? setTimeout(check, 20) : setTimeout(resolve, 500))
  check()
})`

/** Drags the graph to and fro, as a hand does. */
const grab = `document.querySelector('.vue-flow__pane').dispatchEvent(new MouseEvent('mousedown', { bubbles: true, view: window, clientX: 500, clientY: 400 }))`
const drag = `window.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, view: window, clientX: 500 + 100 * Math.sin(times.length / 20), clientY: 400 }))`

export const measurePlan = inBrowser(async (bench) => {
  const found = { outline: [], graph: [], block: [], layout: [], longest: [] }
  for (let round = 0; round < rounds; round++) {
    const { page, close } = await openPage(bench, `/runs/${bench.recorded.runId}`, watchPage)
    await page.evaluate(graphIsDrawn)
    const seen = await page.evaluate(`({ ...window.seen, tasks: window.longTasks,
      layout: performance.getEntriesByName('plan-layout').map(({ startTime, duration }) => ({ startTime, duration }))[0] })`)
    found.outline.push(seen.outline - seen.data)
    found.graph.push(seen.graph - seen.data)
    found.layout.push(seen.layout.duration)
    // The part of each long task before the answer of the worker: the graph is mounted after it.
    const { startTime: begin, duration } = seen.layout
    const inside = (task) =>
      Math.min(begin + duration, task.startTime + task.duration) - Math.max(begin, task.startTime)
    found.block.push(Math.max(0, ...seen.tasks.map(inside)))
    found.longest.push(Math.max(0, ...seen.tasks.map((task) => task.duration)))
    await close()
  }
  return [
    below(`${nodeCount} nodes: outline after the data`, found.outline, { limit: 300 }),
    below(`${nodeCount} nodes: graph after the data`, found.graph, { limit: 2_000 }),
    below(`${nodeCount} nodes: layout in its worker`, found.layout, {}),
    below('longest block of the main thread during the layout', found.block, { limit: 50 }),
    below('longest block of the main thread while the graph is mounted', found.longest, {}),
  ]
})

export const measureFrames = inBrowser(async (bench) => {
  const rows = []
  for (const rate of [0, 60, 600]) rows.push(await measureRate(bench, rate))
  return rows
})

async function measureRate(bench, rate) {
  const figures = []
  let [written, seconds] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const runId = `live-${rate}-${round}`
    const write = await beginRun(bench, runId)
    const { page, close } = await openPage(bench, `/runs/${runId}`, watchPage)
    await page.evaluate(graphIsDrawn)
    let isOver = false
    const began = performance.now()
    const writing = (async () => {
      let done = 0
      while (!isOver && rate > 0) {
        // What is due by the clock: a late timer writes more at once.
        const due = Math.floor(((performance.now() - began) / 1000) * rate) - done
        if (due > 0) await write(due)
        done += Math.max(0, due)
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
      written += done
    })()
    await page.evaluate(grab)
    figures.push(await measureSmoothness(page, drag))
    isOver = true
    await writing
    seconds += (performance.now() - began) / 1000
    await close()
  }
  const name = rate === 0 ? 'dragged' : `dragged, ${(written / seconds).toFixed(0)} events/s`
  return smooth(`${nodeCount} nodes, ${name}`, figures, { p95: 20 })
}
