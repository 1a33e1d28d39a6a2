/** Promise about two tenants on one server: the clients of one cannot slow down the other. Long form, in processes of its own. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { requireBuild } from '../support.ts'

interface Summary {
  readonly statuses: { readonly [status: string]: number }
  /** Refusals without Retry-After. */
  readonly unhinted: number
  readonly p99: number
}

describe.runIf(process.env['PROVISO_LONG'] === '1')('500 clients of one tenant and one of another', () => {
  it('the first is refused with Retry-After, the second is accepted within 250 ms', async () => {
    requireBuild()
    const script = fileURLToPath(new URL('./two-tenants.mjs', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [script, 'clients', '15', '500'])
    const { many, one }: { many: Summary; one: Summary } = JSON.parse(stdout)
    expect(many.statuses['429']).toBeGreaterThan(0)
    expect(many.unhinted).toBe(0)
    expect(Object.keys(one.statuses)).toEqual(['202'])
    expect(one.p99).toBeLessThanOrEqual(250)
  }, 60_000)
})
