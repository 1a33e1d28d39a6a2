/** Promise about two tenants on one server: the clients of one cannot slow down the other. In processes of its own. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { requireBuild } from '../support.ts'

interface Summary {
  readonly statuses: { readonly [status: string]: number }
  /** Refusals without Retry-After. */
  readonly unhinted: number
  readonly p99: number
}

/** The short form only shows that the second tenant is always accepted: its times say nothing on a busy machine. */
const long = process.env['PROVISO_LONG'] === '1'
const [seconds, clients] = long ? [15, 500] : [2, 60]

it(`${clients} clients of one tenant and one of another: the first is refused with Retry-After, the second is accepted`, async () => {
  requireBuild()
  const script = fileURLToPath(new URL('./two-tenants.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    'clients',
    String(seconds),
    String(clients),
  ])
  const { many, one }: { many: Summary; one: Summary } = JSON.parse(stdout)
  expect(many.unhinted).toBe(0)
  expect(Object.keys(one.statuses)).toEqual(['202'])
  if (!long) return
  expect(many.statuses['429']).toBeGreaterThan(0)
  expect(one.p99).toBeLessThanOrEqual(250)
}, 60_000)
