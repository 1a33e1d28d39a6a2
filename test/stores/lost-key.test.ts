/** A run whose secrets no key opens: it stays readable, and the node that needs one fails before its call. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createApp, defineCapability } from '../../src/index.ts'
import { envelope, text } from '../journeys/support.ts'
import { readEnv } from '../seams/base.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-lost-key-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('names the variable to set, and continues when the key is back', async () => {
  const [key, other] = ['a1'.repeat(32), 'b2'.repeat(32)]
  const received: unknown[] = []
  const login = defineCapability({
    capabilityId: 'login',
    inputContract: { type: 'object' },
    outputContract: text,
    run: (input) => {
      received.push(input)
      return { text: 'Tea' }
    },
  })
  const open = (secretKey: string, previousSecretKeys = '') =>
    createApp({
      store: `sqlite:${join(folder, 'runs.db')}`,
      capabilities: [login],
      env: readEnv({ PROVISO_SECRET_KEY: secretKey, PROVISO_SECRET_KEY_PREVIOUS: previousSecretKeys }),
    })
  const draft = {
    nodes: [{ id: 'login', capabilityId: 'login', inputs: { password: { envelope: '/inputs/password' } } }],
  }
  const wait = { id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } }
  const start = { inputs: { password: 'planted-password-1' }, policies: { runtime: [wait] } }
  const first = await open(key)
  const runs = [await first.start(envelope(start), { draft }), await first.start(envelope(start), { draft })]
  const ids = runs.map(({ id }) => id)
  for (const id of ids) await first.result(id)
  await first.close()

  const lost = await open(other)
  await lost.resume(ids[0] ?? '', { by: 'ann' })
  const failed = await lost.result(ids[0] ?? '')
  expect(failed.status).toBe('failed')
  expect(JSON.stringify(failed.error)).toContain('PROVISO_SECRET_KEY_PREVIOUS')
  expect(received).toEqual([])
  await lost.close()

  const back = await open(other, key)
  await back.resume(ids[1] ?? '', { by: 'ann' })
  expect((await back.result(ids[1] ?? '')).status).toBe('completed')
  expect(received).toEqual([{ password: 'planted-password-1' }])
  await back.close()
})
