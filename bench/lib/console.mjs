/** A real server with the built console on SQLite, pages of headless Chromium, and figures with their budgets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, defineCapability } from '../../dist/index.js'
import { createServer } from '../../dist/server/index.js'
import { launchChromium } from '../../scripts/chromium.mjs'
import { median } from './measure.mjs'
import { table } from './table.mjs'

export const rounds = 3
export const nodeCount = 300
export const consoleFolder = new URL('../../dist/ui', import.meta.url).pathname
const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** Measures with a server and a browser of its own, so that sections can be run one by one. */
export function inBrowser(measure) {
  return async ({ quick }) => {
    const load = loadavg()[0].toFixed(1)
    const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
    const app = await createApp({
      store: `sqlite:${join(folder, 'runs.db')}`,
      // Without it the page of capabilities has none to show.
      http: { allowLoopback: true },
      capabilities: [
        defineCapability({
          capabilityId: 'write',
          inputContract: { type: 'object' },
          outputContract: schema,
          idempotent: true,
          run: () => ({ text: 'Tea' }),
        }),
      ],
    })
    const server = createServer({ app }, { auth: { open: true }, console: { folder: consoleFolder } })
    const address = await server.listen({ port: 0 })
    const browser = await launchChromium()
    try {
      const recorded = await recordRun(app)
      return { load, rows: await measure({ app, address, browser, quick, recorded }) }
    } finally {
      await browser.close()
      await server.close({ graceMs: 0 })
      await app.close({ graceMs: 0 })
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The journal of a real run of a large plan. */
async function recordRun(app) {
  const nodes = Array.from({ length: nodeCount }, (_, index) => ({ id: `n${index}`, capabilityId: 'write' }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: `n${Math.floor(index / 3)}`, to: id }))
  // A third of the nodes has a second predecessor, as plans with joins have.
  for (let index = 3; index < nodeCount; index += 3)
    edges.push({ from: `n${Math.floor(index / 2)}`, to: `n${index}` })
  const { runId } = await app.run(
    { objective: 'Large plan', outputContract: { schema } },
    { draft: { nodes, edges, output: { node: `n${nodeCount - 1}` } } },
  )
  const events = []
  for (
    let page = await app.store.read(runId, 0);
    page.length > 0;
    page = await app.store.read(runId, events.length)
  )
    events.push(...page)
  return { runId, events: events.map(({ runId: _, seq: __, ...event }) => event) }
}

/** A run that no engine claims, whose events the bench writes. */
export async function beginRun({ app, recorded }, runId) {
  const begin = recorded.events.findIndex(({ type }) => type === 'plan_generated') + 1
  const head = { status: 'running', planVersion: 1 }
  await app.store.create({ runId, tenant: 'default', events: recorded.events.slice(0, begin), head })
  const steps = recorded.events.slice(begin).filter(({ type }) => type !== 'complete')
  let seq = begin
  return async (count) => {
    const events = Array.from({ length: count }, (_, index) => steps[(seq - begin + index) % steps.length])
    await app.store.append({ runId, expectedSeq: seq, events, head })
    seq += count
    return seq
  }
}

/** Counts frames for two seconds, while something is done in every frame. */
const countFrames = (work) => `new Promise((resolve) => {
  const times = []
  let last = performance.now()
  const begin = last
  const step = (now) => {
    times.push(now - last)
    last = now
    ${work}
    if (now - begin < 2000) requestAnimationFrame(step)
    else resolve({ frames: times.length, fps: (times.length - 1) / ((last - begin) / 1000), p95: times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] })
  }
  requestAnimationFrame(step)
})`

/** Counts frames, and the processor time of the main thread per frame, which the load of the machine does not change. */
export async function measureSmoothness(page, work) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const readBusy = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1_000
  }
  const before = await readBusy()
  const { fps, p95, frames } = await page.evaluate(countFrames(work))
  return { fps, p95, busy: ((await readBusy()) - before) / frames }
}

/** Opens a page in a profile of its own; `script` runs before the page's own. */
export async function openPage({ browser, address }, path, script) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  if (script !== undefined) await context.addInitScript(script)
  const page = await context.newPage()
  await page.goto(`${address}${path}`)
  return { page, close: () => context.close() }
}

/** Goes to an address inside the console, and resolves with the milliseconds until something is there. */
export const navigate = (path, selector) => `new Promise((resolve) => {
  const begin = performance.now()
  const check = () => document.querySelector('${selector}') ? resolve(performance.now() - begin) : requestAnimationFrame(check)
  history.pushState({}, '', '${path}')
  dispatchEvent(new PopStateEvent('popstate', { state: {} }))
  check()
})`

/** A row whose median must be below its limit; without a limit it is shown only. */
export function below(what, values, { limit, unit = 'ms', digits = 0 }) {
  const value = median(values)
  const show = (number) => `${number.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`.trim()
  return {
    what,
    measured: show(value),
    budget: limit === undefined ? '–' : `≤ ${show(limit)}`,
    ...(limit !== undefined && { isMet: value <= limit }),
  }
}

/** A row of frames per second, with the length of the longest frames where that has a limit. */
export function smooth(what, frames, { p95: limit } = {}) {
  const [fps, p95, busy] = ['fps', 'p95', 'busy'].map((name) => median(frames.map((each) => each[name])))
  return {
    what,
    measured: `${fps.toFixed(0)} frames/s, p95 ${p95.toFixed(1)} ms, processor ${busy.toFixed(1)} ms`,
    budget: `≥ 50 frames/s${limit === undefined ? '' : `, p95 ≤ ${limit} ms`}`,
    isMet: fps >= 50 && (limit === undefined || p95 <= limit),
  }
}

/** Prints the rows; a budget that is not kept is marked, and the command fails. */
export function showBudgets({ load, rows }) {
  const over = rows.filter(({ isMet }) => isMet === false)
  if (over.length > 0) {
    console.error(`Over budget: ${over.map(({ what }) => what).join('; ')}`)
    process.exitCode = 1
  }
  return `Median of ${rounds}, load average of the machine before: ${load}.\n\n${table(
    ['what', 'measured', 'budget', 'kept'],
    rows.map(({ what, measured, budget, isMet }) => [
      what,
      measured,
      budget,
      isMet === undefined ? '–' : isMet ? 'yes' : '**no**',
    ]),
  )}`
}
