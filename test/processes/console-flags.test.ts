/** The flags of the console, as the environment of `proviso serve` says: what they switch on is not there without them. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { api } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'

const templates = mkdtempSync(join(tmpdir(), 'proviso-templates-'))
writeFileSync(join(templates, 'flex-tea.json'), '{"objective":"Tea"}')
afterAll(() => rmSync(templates, { recursive: true, force: true }))

it.each([
  [{}, { sandbox: false, createPost: false }, 404],
  [{ USE_FLEX_DEV_SANDBOX: 'true', USE_FLEX_AGENTS_POPUP: 'true' }, { sandbox: true, createPost: true }, 200],
  [{ VITE_USE_FLEX_AGENTS_POPUP: '1' }, { sandbox: false, createPost: true }, 404],
])('%j gives %j', async (flags, features, status) => {
  requireBuild()
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'serve', '--dev', '--port', '0', '--store', 'memory:'],
    {
      env: { ...process.env, NO_COLOR: '1', FLEX_TOKEN: '', FLEX_SANDBOX_TEMPLATE_DIR: templates, ...flags },
    },
  )
  try {
    const { address } = await listening(child)
    const me = (await (await fetch(`${address}${api}/me`)).json()) as { features: unknown }
    expect(me.features).toEqual(features)
    expect((await fetch(`${address}/flex/sandbox`)).status).toBe(status)
    const metadata = await fetch(`${address}${api}/sandbox/metadata`)
    expect(metadata.status).toBe(status)
    if (status === 200)
      expect(await metadata.json()).toMatchObject({
        templates: [{ name: 'flex-tea', envelope: { objective: 'Tea' } }],
      })
  } finally {
    child.kill('SIGKILL')
  }
})
