import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ProvisoError } from '../../base/errors/error.ts'
import { createRedactor } from '../../domain/redaction/redact.ts'
import { openStore } from './open-store.ts'

it('opens a store by its address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-open-'))
  for (const [address, name] of [
    ['memory:', 'memory'],
    [`sqlite:${join(folder, 'a.db')}`, 'sqlite'],
  ] as const) {
    const store = await openStore(address)
    expect(store.name).toBe(name)
    await store.close()
  }
  rmSync(folder, { recursive: true })
})

it.each(['', 'plain', 'mysql://user:secret@host', 'constructor:x', '__proto__:x'])(
  'refuses "%s"',
  async (address) => {
    await expect(openStore(address)).rejects.toMatchObject({
      code: 'option/invalid',
      message: expect.not.stringContaining('secret'),
      hint: expect.stringContaining('sqlite:PATH'),
    })
  },
)

it('says of a path alone what is missing before it', async () => {
  await expect(openStore('./runs.db')).rejects.toMatchObject({
    message: 'The address of a store must start with its kind and a colon',
    hint: expect.stringContaining('sqlite:runs.db'),
  })
})

it('does not reveal the password when the server does not answer', async () => {
  await expect(openStore('postgres://me:secret@127.0.0.1:1/x')).rejects.toMatchObject({
    code: 'store/unavailable',
    message: expect.not.stringContaining('secret'),
  })
})

it.each(['mysql:x', 'postgres://'])(
  'says of "%s" what an address looks like, in words that are not redacted',
  async (address) => {
    const { hint } = (await openStore(address).catch((error: unknown) => error)) as ProvisoError
    expect(createRedactor().text(hint ?? '')).toBe(hint)
  },
)
