/** `useRun` of React and Vue against a real server: on the server, in Node, and mounted in Chromium through a proxy that cuts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createElement } from 'react'
import { renderToString as renderReact } from 'react-dom/server'
import { build } from 'tsdown'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { createSSRApp, defineComponent, effectScope, h, type ShallowRef, shallowRef } from 'vue'
import { renderToString as renderVue } from 'vue/server-renderer'
import { z } from 'zod'
import { missingChromium } from '../../scripts/chromium.mjs'
import { useRun as useReactRun } from '../../src/client/hooks/react.ts'
import { type RunView, useRun as useVueRun } from '../../src/client/hooks/vue.ts'
import { createClient, type RunEvent } from '../../src/client/index.ts'
import { serveFiles, withPage } from '../packages/chromium.ts'
import { flexToken, paused } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import {
  approvedTea,
  chain,
  draft,
  findFaults,
  makeFolder,
  quick,
  serveSqlite,
  tea,
  writing,
} from './support.ts'

const Text = z.object({ text: z.string() })

/** Resolves when the view satisfies the condition. */
async function until<T>(view: Readonly<ShallowRef<T>>, condition: (value: T) => boolean): Promise<T> {
  // Vue batches watchers; polling the ref between turns of the event loop sees the same values.
  while (!condition(view.value)) await new Promise((resolve) => setImmediate(resolve))
  return view.value
}

describe('the types of useRun', () => {
  it('are those of the schema, and only a completed run has an output', () => {
    const typed = (client: ReturnType<typeof createClient>) => {
      const view = useReactRun(client, 'r', { output: Text })
      expectTypeOf(view).toEqualTypeOf<RunView<{ text: string }>>()
      if (view.status === 'completed') expectTypeOf(view.output).toEqualTypeOf<{ text: string }>()
      else expectTypeOf(view.output).toEqualTypeOf<undefined>()
      expectTypeOf(useReactRun<{ line: string }>(client, undefined)).toEqualTypeOf<
        RunView<{ line: string }>
      >()
      expectTypeOf(useVueRun(client, () => 'r', { output: Text }).value).toEqualTypeOf<
        RunView<{ text: string }>
      >()
    }
    expect(typed).toBeTypeOf('function')
  })
})

describe('on a server', () => {
  it('renders without following the run', async () => {
    const refuse = () => Promise.reject(new Error('a request on the server'))
    const client = createClient({ url: 'http://127.0.0.1:1', fetch: refuse })
    const React = () => createElement('p', null, useReactRun(client, 'r').status)
    expect(renderReact(createElement(React))).toBe('<p>connecting</p>')
    const Vue = defineComponent({
      setup() {
        const run = useVueRun(client, 'r')
        return () => h('p', run.value.status)
      },
    })
    expect(await renderVue(createSSRApp(Vue))).toBe('<p>connecting</p>')
  })
})

describe('in an effect scope of Vue', () => {
  it('follows the run of the current id, shows its asks and its typed output, and stops with the scope', async () => {
    const { client } = await serveSqlite(writing)
    const first = await client.runs.start(approvedTea, { draft })
    const second = await client.runs.start(tea, { draft })
    const runId = shallowRef<string>()
    const scope = effectScope()
    const view = scope.run(() => useVueRun(client, runId, { output: Text }))
    if (!view) throw new Error('the scope is not active')
    expect(view.value.status).toBe('idle')
    runId.value = first.id
    const { asks, nodes } = await until(view, ({ status }) => status === 'waiting')
    expect(nodes).toMatchObject([{ id: 'write', status: 'completed', output: { text: 'Tea' } }])
    await asks[0]?.approve()
    const done = await until(view, ({ status }) => status === 'completed')
    expect([done.output?.text, done.asks, findFaults(done.events)]).toEqual(['Tea', [], []])
    runId.value = second.id
    const other = await until(
      view,
      ({ status, events }) => status === 'completed' && events[0]?.runId === second.id,
    )
    expect(findFaults(other.events)).toEqual([])
    scope.stop()
    runId.value = first.id
    await new Promise((resolve) => setImmediate(resolve))
    expect(view.value).toBe(other)
  })

  it('waits while a policy pauses the run, and says why', async () => {
    const { client } = await serveSqlite(writing)
    const run = await client.runs.start({ ...tea, ...paused }, { draft })
    const scope = effectScope()
    const view = scope.run(() => useVueRun(client, run.id))
    if (!view) throw new Error('the scope is not active')
    const waiting = await until(view, ({ status }) => status === 'waiting')
    expect([waiting.paused, waiting.asks]).toEqual([{ reason: 'Not yet' }, []])
    await run.resume()
    const done = await until(view, ({ status }) => status === 'completed')
    expect(done.paused).toBeUndefined()
    scope.stop()
  })

  it('reports a failed run, a refused output and a lost server each in its own way', async () => {
    const { client, address } = await serveSqlite(writing)
    const scope = effectScope()
    const see = (id: string, given = client) => {
      const view = scope.run(() => useVueRun(given, id))
      if (!view) throw new Error('the scope is not active')
      return view
    }
    const unplanned = await client.runs.start(
      { ...tea, outputContract: { schema: { required: ['price'] } } },
      { draft },
    )
    const failed = await until(see(unplanned.id), ({ status }) => status === 'failed')
    expect(failed.error).toMatchObject({ code: 'run/failed', result: { status: 'failed' } })
    const cancelled = await client.runs.start(approvedTea, { draft })
    await cancelled.cancel()
    expect((await until(see(cancelled.id), ({ status }) => status === 'cancelled')).error?.code).toBe(
      'run/cancelled',
    )
    const { id } = await client.runs.start(tea, { draft })
    const strict = scope.run(() => useVueRun(client, id, { output: z.object({ price: z.number() }) }))
    if (!strict) throw new Error('the scope is not active')
    const refused = await until(strict, ({ status }) => status === 'disconnected')
    expect(refused.error?.code).toBe('client/output-invalid')
    let isUp = false
    const flaky = createClient({
      url: address,
      token: flexToken,
      retry: { ...quick, attempts: 1 },
      fetch: (input, init) => (isUp ? fetch(input, init) : Promise.reject(new TypeError('no route'))),
    })
    const view = see(id, flaky)
    const lost = await until(view, ({ status }) => status === 'disconnected')
    expect(lost.error?.code).toBe('client/unreachable')
    isUp = true
    lost.reconnect()
    expect((await until(view, ({ status }) => status === 'completed')).output).toEqual({ text: 'Tea' })
    scope.stop()
  })
})

/** Bundles the page with the built package, as a user's bundler does. */
async function bundlePage(): Promise<string> {
  const folder = makeFolder()
  await build({
    config: false,
    cwd: root,
    entry: { page: join(root, 'test/client/hooks-page.ts') },
    outDir: folder,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    dts: false,
    tsconfig: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"' },
    outExtensions: () => ({ js: '.js' }),
    deps: { alwaysBundle: [/./] },
  })
  return readFileSync(join(folder, 'page.js'), 'utf8')
}

interface Shown {
  readonly status: string
  readonly events: readonly RunEvent[]
  readonly nodes: readonly unknown[]
  readonly output: unknown
}

describe.skipIf(missingChromium() !== undefined)('mounted in Chromium', () => {
  it('shows every event once through cuts, unmounts and mounts again, and lets a person decide', {
    timeout: 120_000,
  }, async () => {
    requireBuild()
    const files = new Map([
      ['/page.js', await bundlePage()],
      ['/index.html', '<!doctype html><main></main><script type="module" src="page.js"></script>'],
    ])
    const site = await serveFiles(files, "default-src 'none'; script-src 'self'; connect-src *")
    const { address, client } = await serveSqlite(writing, { cors: [site.url], limits: { rate: false } })
    const proxy = await startCuttingProxy(address, 5)
    try {
      await withPage(async (page) => {
        const errors: string[] = []
        page.on('pageerror', (error) => errors.push(String(error)))
        await page.goto(`${site.url}/index.html`)
        await page.waitForFunction('globalThis.ready')
        for (const kind of ['react', 'vue']) {
          const { id } = await client.runs.start(approvedTea, { draft: chain(8) })
          const given = { url: proxy.url, token: flexToken, retry: { ...quick, attempts: 50 }, runId: id }
          const mount = `mount(${JSON.stringify(kind)}, ${JSON.stringify(given)})`
          await page.evaluate(mount)
          await page.locator('p', { hasText: 'waiting' }).waitFor()
          await page.evaluate('unmount()')
          await page.waitForFunction('openStreams() === 0')
          const rendered = await page.evaluate('renders()')
          await page.evaluate(mount)
          await page.locator('button').click()
          await page.locator('p', { hasText: 'completed {"text":"Tea"}' }).waitFor()
          const shown = (await page.evaluate('lastShown()')) as Shown
          expect(findFaults(shown.events)).toEqual([])
          expect(shown.nodes).toHaveLength(8)
          expect(Number(rendered)).toBeGreaterThan(0)
          await page.evaluate('unmount()')
          await page.waitForFunction('openStreams() === 0')
          expect(await page.locator('main').textContent()).toBe('')
        }
        expect(errors).toEqual([])
        expect(proxy.cuts).toBeGreaterThan(2)
      })
    } finally {
      await proxy.close()
      await site.close()
    }
  })
})
