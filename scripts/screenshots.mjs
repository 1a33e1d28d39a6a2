// @ts-check
/** `npm run screenshots`: serves the console with a scripted model and writes a picture of every page to `docs/screenshots/`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureFonts, launchChromium, missingChromium } from './chromium.mjs'
import {
  agentEnvelope,
  approvedEnvelope,
  carefulEnvelope,
  demoCapabilities,
  demoProvider,
  legalEnvelope,
  postDraft,
  postEnvelope,
  sayInThread,
} from './console-demo.mjs'
import { ensureBuilt, root } from './setup.mjs'

const only = process.argv.slice(2).filter((name) => !name.startsWith('--'))
const folder = process.env['PROVISO_SCREENSHOTS'] ?? join(root, 'docs', 'screenshots')
if (!process.argv.includes('--as-built')) {
  ensureBuilt()
  ensureBuilt('ui')
}

/** A plan with a node that fails, and one that is not reached. */
const labelDraft = {
  nodes: [
    { id: 'research', label: 'Research', capabilityId: 'research.topic' },
    { id: 'print', label: 'Print the label', capabilityId: 'label.printer' },
    { id: 'write', label: 'Write the post', capabilityId: 'copy.writer' },
  ],
  edges: [
    { from: 'research', to: 'print' },
    { from: 'print', to: 'write' },
  ],
  output: { node: 'write' },
}

/** @param {string} path */
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href)
/** @type {typeof import('../src/index.ts')} */
const pkg = await load('index.js')
/** @type {typeof import('../src/server/index.ts')} */
const { createServer, sandboxRoutes } = await load('server/index.js')

const scratch = mkdtempSync(join(tmpdir(), 'proviso-screenshots-'))
const app = await pkg.createApp({
  store: `sqlite:${join(scratch, 'runs.db')}`,
  capabilities: [
    ...demoCapabilities(pkg).capabilities,
    pkg.defineCapability({
      capabilityId: 'label.printer',
      displayName: 'Label printer',
      summary: 'Prints labels for parcels',
      inputContract: { type: 'object' },
      outputContract: { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] },
      idempotent: true,
      run: () => {
        throw new Error('The printer is out of paper')
      },
    }),
  ],
  providers: [demoProvider()],
  http: { allowLoopback: true },
})
const consoleFolder = join(root, 'dist', 'ui')
const server = createServer(
  { app },
  {
    auth: { open: true },
    console: { folder: consoleFolder, createPost: true },
    routes: sandboxRoutes({ generate: app.generate }),
  },
)
const address = await server.listen({ port: 0 })

for (const topic of ['oolong', 'matcha', 'white tea'])
  await app.result(
    (
      await app.start({
        objective: `Write one post about ${topic}`,
        inputs: { topic },
        output: postEnvelope.outputContract.schema,
      })
    ).id,
  )
const { runId: done } = await app.run(/** @type {never} */ (postEnvelope), {
  draft: /** @type {never} */ (postDraft),
})
const { runId: waiting } = await app.run(/** @type {never} */ (carefulEnvelope))
await app.run(/** @type {never} */ (legalEnvelope))
const { runId: agent } = await app.run(/** @type {never} */ (agentEnvelope))
await sayInThread(app, 'Spring campaign', 1)
const { runId: failed } = await app.run(
  /** @type {never} */ ({ ...postEnvelope, objective: 'Announce the tea and print its label' }),
  { draft: /** @type {never} */ (labelDraft) },
)
const { runId: replanned } = await app.run(/** @type {never} */ (approvedEnvelope), {
  draft: /** @type {never} */ (postDraft),
})
await rejectAndReplan(replanned)
// The same runs behind a token: who has none is asked for it.
const guarded = createServer(
  { app },
  { auth: { token: 'a-token-that-is-shown-nowhere' }, console: { folder: consoleFolder } },
)
const signIn = await guarded.listen({ port: 0 })

/** @type {Record<string, { path: string, dark?: true, phone?: true, wait: string, at?: string }>} */
const pictures = {
  runs: { path: '/runs', wait: '.runs-row' },
  'runs-dark': { path: '/runs', wait: '.runs-row', dark: true },
  run: { path: `/runs/${done}?node=write`, wait: '[data-graph-node=write]' },
  'run-dark': { path: `/runs/${done}?node=write`, wait: '[data-graph-node=write]', dark: true },
  'run-timeline': { path: `/runs/${done}?tab=timeline`, wait: '.timeline li' },
  'run-proof': { path: `/runs/${done}?tab=proof`, wait: '[data-test=proof]' },
  'run-output': { path: `/runs/${done}?tab=output`, wait: '[data-test=output] pre' },
  'run-agent': { path: `/runs/${agent}`, wait: '[data-test=turn]' },
  'run-failed': { path: `/runs/${failed}`, wait: '[data-graph-node=print]' },
  'run-compare': { path: `/runs/${replanned}?compare=1`, wait: '.plan-node.added' },
  'run-replay': { path: `/runs/${waiting}?tab=replay`, wait: '[data-test=what-if]' },
  inbox: { path: '/inbox', wait: '[data-test=ask]' },
  'inbox-dark': { path: '/inbox', wait: '[data-test=ask]', dark: true },
  'inbox-phone': { path: '/inbox', wait: '[data-test=ask]', phone: true },
  threads: { path: '/threads/Spring%20campaign', wait: '.conversation [data-test=ask]' },
  'threads-dark': { path: '/threads/Spring%20campaign', wait: '.conversation [data-test=ask]', dark: true },
  'threads-phone': { path: '/threads/Spring%20campaign', wait: '.conversation [data-test=ask]', phone: true },
  compose: { path: '/compose', wait: '[data-test=proof]' },
  sandbox: { path: '/flex/sandbox', wait: '[data-test=proof]' },
  capabilities: { path: '/capabilities', wait: '[data-test=capability]' },
  'sign-in': { path: '/runs', wait: 'input[type=password]', at: signIn },
  health: { path: '/health', wait: '[data-test=chart] canvas' },
}

ensureFonts()
missingChromium()
const browser = await launchChromium()
try {
  mkdirSync(folder, { recursive: true })
  for (const [name, { path, dark, phone, wait, at = address }] of Object.entries(pictures)) {
    if (only.length > 0 && !only.includes(name)) continue
    const context = await browser.newContext({
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => console.error(name, String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(name, message.text())
    })
    await page.goto(`${at}${path}`)
    try {
      await page.waitForSelector(wait, { timeout: 15_000 })
      // The graph is painted after the data has come.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : error}`)
      process.exitCode = 1
    }
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await context.close()
    console.log(`${name}.png`)
  }
} finally {
  await browser.close()
  await guarded.close({ graceMs: 0 })
  await server.close({ graceMs: 0 })
  await app.close({ graceMs: 0 })
  rmSync(scratch, { recursive: true, force: true })
}

/** Rejects the answer of a run as a person would, so that a second plan follows. @param {string} runId */
async function rejectAndReplan(runId) {
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  const answer = await fetch(`${address}/api/v1/flex/hitl/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      requestId: ask?.requestId,
      decision: 'reject',
      rejectAction: 'replan',
      valueHash: ask?.valueHash,
      note: 'Another approach, please',
    }),
  })
  if (!answer.ok) throw new Error(`The answer was not rejected: ${await answer.text()}`)
  await app.result(runId)
}
