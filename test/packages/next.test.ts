/**
 * Proviso in Next: the route and the page of `docs/reference/server.md` are built by `next build` from the packed package, and
 * the suite of mounts runs against `next start`. Installs Next from the registry, so only the long tests do it.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingChromium } from '../../scripts/chromium.mjs'
import { describeMount, type Mounted } from '../server/mount-suite.ts'
import { api } from '../server/support.ts'
import { root } from '../support.ts'
import { withPage } from './chromium.ts'
import { installPacked, type Project } from './install.ts'

const run = promisify(execFile)
const long = process.env['PROVISO_LONG'] === '1'
const nextVersion = '16.4.6'
const token = 'choose-a-long-random-text'
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined, VITEST: undefined }

/** The program of the page that begins with this comment. */
function readProgram(file: string): string {
  const page = readFileSync(join(root, 'docs/reference/server.md'), 'utf8')
  const blocks = [...page.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  const found = blocks.find((code) => code.startsWith(`// ${file}\n`))
  if (found === undefined) throw new Error(`docs/reference/server.md has no program ${file}`)
  return found
}

const routeFile = 'app/api/v1/flex/[...path]/route.ts'

/** The route of the page, with the capabilities of the suite besides its own. */
function routeOfSuite(): string {
  const route = readProgram(routeFile)
  const own = 'capabilities: [write]'
  expect(route).toContain(own)
  return `import { suite } from '../../../../../suite'\n${route.replace(own, 'capabilities: [write, ...suite]')}`
}

/** Capabilities that the suite controls through `/control`, from the same process. */
const suiteFile = `
import { defineCapability } from 'proviso'
declare global {
  var finishSlow: (() => void) | undefined
}
const output = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const input = { type: 'object' } as const
const wait = () => new Promise<void>((resolve) => { globalThis.finishSlow = resolve })
export const suite = [
  defineCapability({ id: 'write', input, output, run: () => ({ text: 'Tea' }) }),
  defineCapability({ id: 'large', input, output, run: () => ({ text: 'x'.repeat(200_000) }) }),
  defineCapability({ id: 'slow', input, output, run: () => wait().then(() => ({ text: 'Tea' })) }),
]
`

const controlFile = `
import 'proviso/server'
export const dynamic = 'force-dynamic'
export const GET = async () => Response.json({ streams: (await globalThis.proviso)?.streams ?? 0 })
export const POST = async () => {
  globalThis.finishSlow?.()
  return Response.json({})
}
`

/** Reads a text on a thread, whose script Next must have found. */
const longFile = `
import { createOffThreadReader } from 'proviso/output/off-thread'
export const dynamic = 'force-dynamic'
export const GET = async () => {
  const reader = createOffThreadReader({ deadlineMs: 60_000 })
  const read = await reader.parse("{a: '1'}", { type: 'object', properties: { a: { type: 'integer' } } })
  await reader.close()
  return Response.json(read)
}
`

const files = () => ({
  [routeFile]: routeOfSuite(),
  'app/page.tsx': readProgram('app/page.tsx'),
  'app/layout.tsx': `import type { ReactNode } from 'react'
    export default function Layout({ children }: { children: ReactNode }) {
      return <html lang="en"><body>{children}</body></html>
    }`,
  'app/control/route.ts': controlFile,
  'app/long/route.ts': longFile,
  'suite.ts': suiteFile,
})

let project: Project
let served: ChildProcess | undefined
let address = ''

async function build(config: object): Promise<void> {
  writeFileSync(
    join(project.folder, 'next.config.mjs'),
    `export default ${JSON.stringify({ ...config, outputFileTracingRoot: project.folder, turbopack: { root: project.folder } })}`,
  )
  const next = join(project.folder, 'node_modules/next/dist/bin/next')
  const done = await run(process.execPath, [next, 'build'], { cwd: project.folder, env }).catch(
    (failed) => failed,
  )
  expect(done.code ?? 0, `${done.stdout}${done.stderr}`).toBe(0)
  // Building opens no store: a server may be running on it.
  expect(readdirSync(project.folder).filter((name) => name.startsWith('runs.db'))).toEqual([])
}

/** Starts a program of Next on a free port; resolves with its address. */
async function serve(args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(process.execPath, args, { cwd, env: { ...env, PORT: '0', HOSTNAME: '127.0.0.1' } })
  served = child
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (text: string) => {
      printed += text
      const [, port] = /http:\/\/[\w.]+:(\d+)/.exec(printed) ?? []
      if (port && printed.includes('Ready')) resolve(`http://127.0.0.1:${port}`)
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${printed}`)))
  })
}

async function stop(): Promise<void> {
  if (served === undefined || served.exitCode !== null) return
  const gone = once(served, 'exit')
  served.kill('SIGKILL')
  await gone
}

/** The parts of Next's own process that the suite needs. */
async function mountInNext(): Promise<Mounted> {
  const send: Mounted['send'] = (path, init) => fetch(`${address}${path}`, init)
  const finish = async () => void (await send('/control', { method: 'POST' }))
  return {
    send,
    finish,
    streams: async () => ((await (await send('/control')).json()) as { streams: number }).streams,
    async result(runId) {
      const path = `${api}/runs/${runId}`
      const read = async () => {
        const response = await send(path, { headers: { authorization: `Bearer ${token}` } })
        return (await response.json()) as { readonly run: { readonly status: string } }
      }
      await expect.poll(async () => (await read()).run.status, { timeout: 10_000 }).toBe('completed')
      return (await read()).run
    },
    [Symbol.asyncDispose]: finish,
  }
}

async function expectThreadReads(): Promise<void> {
  expect(await (await fetch(`${address}/long`)).json()).toMatchObject({ ok: true, value: { a: 1 } })
}

describe.runIf(long)('Next', () => {
  beforeAll(async () => {
    project = await installPacked(
      ['proviso'],
      ['react', 'react-dom', 'typescript', '@types/react', '@types/node'],
    )
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--save-exact']
    await run('npm', ['install', ...flags, `next@${nextVersion}`], { cwd: project.folder })
    for (const [file, text] of Object.entries(files())) {
      mkdirSync(dirname(join(project.folder, file)), { recursive: true })
      writeFileSync(join(project.folder, file), text)
    }
    await build({})
    const next = join(project.folder, 'node_modules/next/dist/bin/next')
    address = await serve([next, 'start', '--port', '0', '--hostname', '127.0.0.1'], project.folder)
  }, 900_000)

  afterAll(async () => {
    await stop()
    project?.remove()
  }, 60_000)

  describeMount('a route handler, by Next itself', mountInNext, token)

  it.skipIf(missingChromium() !== undefined)('shows a run on a page', { timeout: 120_000 }, async () => {
    await withPage(async (page) => {
      await page.goto(address)
      await page.getByRole('button', { name: 'Start' }).click()
      await page.getByText('completed Time for tea.').waitFor()
    })
  })

  it('builds and runs as an external package in a standalone folder', { timeout: 900_000 }, async () => {
    await stop()
    for (const name of readdirSync(project.folder).filter((each) => each.startsWith('runs.db')))
      await run('rm', [join(project.folder, name)])
    await build({ serverExternalPackages: ['proviso'], output: 'standalone' })
    const folder = join(project.folder, '.next/standalone')
    address = await serve([join(folder, 'server.js')], folder)
    await expectThreadReads()
    const { send } = await mountInNext()
    expect((await send(`${api}/runs`)).status).toBe(401)
    const body = JSON.stringify({
      envelope: {
        objective: 'One line',
        outputContract: {
          schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
      },
      draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
    })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const begun = await send(`${api}/runs?wait=30`, { method: 'POST', headers, body })
    expect(await begun.json()).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })
})
