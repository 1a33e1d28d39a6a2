/** `proviso serve` when it cannot listen, cannot write its output, or cannot reach its store. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { createApp } from '../../src/index.ts'
import { serve, useServeProcesses } from '../semantics/settings/serve-process.ts'
import { frames } from '../server/support.ts'
import { proviso, root } from '../support.ts'

useServeProcesses()

const flexToken = 'a-token-for-one-user-only'
const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'One line about tea', outputContract: { schema } }
const draft = { nodes: [{ id: 'write', capabilityId: 'of_a_module' }] }

async function occupiedPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('No port')
  return { port: address.port, close: () => server.close() }
}

describe('proviso serve in trouble', () => {
  it.each([
    ['on an occupied port', 'is used by another process', (port: number) => ['--port', `${port}`]],
    [
      'with --dev on a public address',
      'does not listen on',
      () => ['--dev', '--host', '0.0.0.0', '--port', '0'],
    ],
  ])('%s changes no run', async (_name, message, flags) => {
    const path = `sqlite:${join(mkdtempSync(join(tmpdir(), 'proviso-serve-')), 'runs.db')}`
    const before = await openStore(path)
    const app = await createApp({ store: before, claim: 'none' })
    await app.start(envelope, { runId: 'r', draft })
    const seq = (await before.read('r', 0, 100)).length
    await app.close()
    await before.close()
    const { port, close } = await occupiedPort()
    const env = { FLEX_TOKEN: flexToken, NO_COLOR: '1' }
    const { code, stderr } = await proviso(['serve', '--store', path, ...flags(port)], { env })
    close()
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    const after = await openStore(path)
    expect(await after.read('r', 0, 100)).toHaveLength(seq)
    await after.close()
  })

  it.runIf(existsSync('/dev/full'))('continues when its log cannot be written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-serve-'))
    for (const output of ['full', 'closed']) {
      const stderr = output === 'full' ? openSync('/dev/full', 'w') : 'pipe'
      const child = spawn(
        process.execPath,
        [
          join(root, 'dist/cli/main.js'),
          'serve',
          '--dev',
          '--port',
          '0',
          '--store',
          `sqlite:${folder}/${output}.db`,
        ],
        { stdio: ['ignore', 'pipe', stderr], env: { ...process.env, PROVISO_LOG: 'debug' } },
      )
      const [line] = await once(child.stdout!.setEncoding('utf8'), 'data')
      child.stderr?.destroy()
      child.stdout?.destroy()
      const [, address = ''] = /serves on (\S+)/.exec(line) ?? []
      const run = async () =>
        frames(
          await fetch(`${address}/api/v1/flex/run.stream`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ envelope: { objective: 'x', outputContract: { schema } } }),
          }),
        )
      for (let runs = 0; runs < 3; runs++) expect((await run()).at(-1)?.type).toBe('complete')
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    }
  })

  it('logs an expected refusal on one line, and counts its repeats', async () => {
    const server = await serve({ env: { PROVISO_LOG: 'warn' } })
    renameSync(join(server.folder, 'proviso.db'), join(server.folder, 'moved.db'))
    let refused = 0
    const list = async () => {
      const { status } = await server.call('/api/v1/flex/runs')
      if (status === 503) refused++
    }
    const until = Date.now() + 10_000
    while (refused < 10 && Date.now() < until) await Promise.all([list(), list(), list()])
    await server.stop()
    const lines = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('flex_request_failed'))
      .map((line) => JSON.parse(line) as { code: string; leftOut?: number })
    expect(lines[0]).toMatchObject({ level: 'warn', code: 'store/replaced', route: '/api/v1/flex/runs' })
    expect(lines.reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0)).toBe(refused)
    expect(refused).toBeGreaterThan(3)
    expect(lines.length).toBeLessThan(4)
    expect(server.stderr()).not.toMatch(/^ +at /m)
  })
})
