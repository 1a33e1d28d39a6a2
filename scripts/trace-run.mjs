// @ts-check
/**
 * `npm run trace [-- --json] [--cold] [--draft]`: counts the source files and function calls of one trivial run over HTTP.
 *
 * Builds the sources with a counter at the start of every function body, starts the server in this process on the memory
 * store, and posts one run of one local capability to `/run.stream`, read until the stream ends. Counted are, between
 * sending the request and the end of its stream:
 * - files: files of `src` of which at least one function was entered;
 * - calls: entries of functions, methods, accessors, constructors and callbacks written in `src`. Code of dependencies and
 *   of Node, the top level of modules and the continuation of an async function after an `await` are not entries;
 * - hops: entries of a function in another file than the entry before.
 * One run warms up; then the run with the fewest calls of five is reported, because timers of the engine only add calls.
 * `--cold` reports the first run instead. The planner finds the plan; `--draft` submits it with the run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'tsdown'
import ts from 'typescript'
import { root } from './setup.mjs'

/**
 * @typedef {{ files: number, calls: number, hops: number, top: { file: string, calls: number }[] }} Trace
 * @typedef {{ cold?: boolean, draft?: boolean }} Options
 */

/**
 * Puts `enter(file)` at the start of every function body.
 * @param {string} text TypeScript
 * @param {string} file the name that is recorded
 * @param {string} enter the name of a global function
 */
export function countEntries(text, file, enter) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const call = `${enter}(${JSON.stringify(file)})`
  /** @type {{ at: number, text: string }[]} */
  const insertions = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const body = /** @type {ts.Block | ts.Expression} */ (node.body)
      if (ts.isBlock(body)) insertions.push({ at: body.getStart() + 1, text: `${call};` })
      else insertions.push({ at: body.getStart(), text: `(${call},` }, { at: body.end, text: ')' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  let counted = text
  for (const { at, text } of insertions.sort((a, b) => b.at - a.at)) {
    counted = counted.slice(0, at) + text + counted.slice(at)
  }
  return counted
}

/** Records entries while it is active. */
export function createRecorder() {
  /** @type {Map<string, number>} */
  const calls = new Map()
  let [hops, last, on] = [0, '', false]
  return {
    /** @param {string} file */
    enter(file) {
      if (!on) return
      calls.set(file, (calls.get(file) ?? 0) + 1)
      if (last !== '' && last !== file) hops++
      last = file
    },
    start() {
      calls.clear()
      ;[hops, last, on] = [0, '', true]
    },
    /** @returns {Trace} */
    stop() {
      on = false
      const top = [...calls].map(([file, count]) => ({ file, calls: count }))
      top.sort((a, b) => b.calls - a.calls || (a.file < b.file ? -1 : 1))
      return { files: top.length, calls: top.reduce((sum, row) => sum + row.calls, 0), hops, top }
    },
  }
}

const enter = '__provisoEnter'

/**
 * Traces one run. The calling process should exit after it, because the instrumented build stays loaded.
 * @param {Options} [options]
 * @returns {Promise<Trace>}
 */
export async function traceRun({ cold = false, draft = false } = {}) {
  const recorder = createRecorder()
  Object.assign(globalThis, { [enter]: recorder.enter })
  // Inside the repository, so that dependencies resolve from there.
  const folder = mkdtempSync(join(root, 'node_modules', '.proviso-trace-'))
  try {
    await buildCounted(folder)
    const { url, close } = await startServer(folder)
    try {
      /** @type {Trace[]} */
      const traces = []
      for (let count = 0; count < (cold ? 1 : 6); count++) {
        recorder.start()
        await postRun(url, draft)
        traces.push(recorder.stop())
      }
      const [first, ...warm] = traces
      return warm.sort((a, b) => a.calls - b.calls)[0] ?? /** @type {Trace} */ (first)
    } finally {
      await close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} outDir */
async function buildCounted(outDir) {
  const source = join(root, 'src')
  await build({
    config: false,
    cwd: root,
    entry: { index: 'src/index.ts', server: 'src/server/index.ts' },
    outDir,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: false,
    clean: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.mjs' }),
    plugins: [
      {
        name: 'count-entries',
        transform: {
          order: 'pre',
          /** @param {string} code @param {string} id */
          handler: (code, id) =>
            id.startsWith(source) ? { code: countEntries(code, relative(root, id), enter), map: null } : null,
        },
      },
    ],
  })
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** @param {string} folder @returns {Promise<{ url: string, close: () => Promise<void> }>} */
async function startServer(folder) {
  /** @param {string} name */
  const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href)
  const [{ createApp, defineCapability }, { createServer }] = [await load('index'), await load('server')]
  const echo = defineCapability({
    capabilityId: 'echo',
    inputContract: text,
    outputContract: text,
    run: (/** @type {unknown} */ inputs) => inputs,
  })
  const app = await createApp({ store: 'memory:', providers: [], capabilities: [echo] })
  const server = createServer({ app }, { auth: { open: true } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await server.close({ graceMs: 0 })
    await app.close()
  }
  return { url, close }
}

/** @param {string} url @param {boolean} withDraft */
async function postRun(url, withDraft) {
  const envelope = { objective: 'Measure', inputs: { text: 'x' }, outputContract: { schema: text } }
  const draft = { nodes: [{ id: 'echo', capabilityId: 'echo' }], output: { node: 'echo' } }
  const response = await fetch(`${url}/api/v1/flex/run.stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ envelope, ...(withDraft && { draft }) }),
  })
  const events = await response.text()
  if (!/"status":"completed"/.test(events)) {
    throw new Error(`Cannot trace the run: it did not complete (${response.status}): ${events.slice(-2_000)}`)
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      cold: { type: 'boolean' },
      draft: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log('Usage: npm run trace [-- --json] [--cold] [--draft]')
    process.exit(0)
  }
  const trace = await traceRun(values)
  if (values.json) console.log(JSON.stringify(trace))
  else {
    for (const { file, calls } of trace.top.slice(0, 15)) console.log(`${String(calls).padStart(6)}  ${file}`)
    console.log(`one run: ${trace.files} files, ${trace.calls} calls, ${trace.hops} hops between files`)
  }
  process.exit(0)
}
