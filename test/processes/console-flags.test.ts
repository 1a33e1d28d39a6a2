/** The flags of the console, as the environment of `proviso serve` says: what they switch on is not there without them. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { api } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'

it.each([
  [{}, { sandbox: false, createPost: false }, 404],
  [{ USE_FLEX_DEV_SANDBOX: 'true', USE_FLEX_AGENTS_POPUP: 'true' }, { sandbox: true, createPost: true }, 200],
  [{ VITE_USE_FLEX_AGENTS_POPUP: '1' }, { sandbox: false, createPost: true }, 404],
])('%j gives %j', async (flags, features, status) => {
  requireBuild()
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'serve', '--dev', '--port', '0', '--store', 'memory:'],
    { env: { ...process.env, NO_COLOR: '1', FLEX_TOKEN: '', ...flags } },
  )
  try {
    const { address } = await listening(child)
    const me = (await (await fetch(`${address}${api}/me`)).json()) as { features: unknown }
    expect(me.features).toEqual(features)
    expect((await fetch(`${address}/flex/sandbox`)).status).toBe(status)
  } finally {
    child.kill('SIGKILL')
  }
})
