/** `proviso mcp --http` as a process: the official client calls a capability with the token, and others are refused. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, it } from 'vitest'
import { proviso, requireBuild, root } from '../support.ts'
import { folder } from './support.ts'

const greet = `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
export const greet = defineCapability({
  id: 'greet',
  summary: 'Greets',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  output: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
  run: ({ name }) => ({ greeting: 'Hello ' + name }),
})
`

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0)) await end()
})

/** Starts the server on a free port; resolves with its address and a way to stop it, which returns the exit code. */
async function start(cwd: string) {
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'mcp', '--http', '0', '--use', 'greet.mjs', '--capability', 'greet'],
    { cwd, env: { ...process.env, FLEX_TOKEN: 'a-token' }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stop = () => {
    child.kill('SIGTERM')
    return closed
  }
  ending.push(stop)
  let lines = ''
  for await (const line of createInterface({ input: child.stderr })) {
    lines += `${line}\n`
    const [url] = /http:\S+/.exec(line) ?? []
    if (url !== undefined) return { url, stop }
  }
  throw new Error(`the server did not start: ${lines}`)
}

/** Sends a target as it is, which `fetch` would normalize. */
function getStatus(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}

it('serves capabilities over HTTP to callers with the token, and stops on SIGTERM', async () => {
  requireBuild()
  const cwd = folder()
  writeFileSync(join(cwd, 'greet.mjs'), greet)
  const { url, stop } = await start(cwd)
  const post = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })
  expect((await post({})).status).toBe(401)
  expect((await post({ authorization: 'Bearer another' })).status).toBe(401)
  expect((await post({ authorization: 'Bearer a-token', origin: 'http://example.org' })).status).toBe(403)
  // A target that is no URL is refused, and the server continues.
  const { port } = new URL(url)
  expect(await getStatus(Number(port), '//')).toBe(404)
  const second = await proviso(['mcp', '--http', port], { env: { FLEX_TOKEN: 'a-token' } })
  expect(second).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`port ${port}: it is used by another process`),
  })

  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  ending.unshift(() => client.close())
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: 'Bearer a-token' } },
    }),
  )
  expect((await client.listTools()).tools).toMatchObject([
    { name: 'greet', outputSchema: { required: ['greeting'] } },
    { name: 'proviso_run' },
  ])
  const called = await client.callTool({ name: 'greet', arguments: { name: 'Ann' } })
  expect(called).toMatchObject({ structuredContent: { greeting: 'Hello Ann' } })
  await client.close()
  expect(await stop()).toBe(0)
})

it('refuses to serve over HTTP without a token', async () => {
  requireBuild()
  const { code, stderr } = await proviso(['mcp', '--http', '0'], { env: { FLEX_TOKEN: undefined } })
  expect(code).toBe(2)
  expect(stderr).toContain('Set FLEX_TOKEN')
})
