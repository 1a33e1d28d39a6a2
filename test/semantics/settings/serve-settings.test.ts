/** Limits and retention of `proviso serve` are settings, and a setting that no code reads is reported. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../src/adapters/stores/open-store.ts'
import { proviso } from '../../support.ts'
import { refusedStart, serve, useServeProcesses } from './serve-process.ts'

useServeProcesses()

const schema = { type: 'object', properties: { text: { type: 'string' } } }
const envelope = (words: string) => ({ envelope: { objective: words, outputContract: { schema } } })

describe('limits', () => {
  it('of bodies and rates are taken from proviso.toml, and a flag wins', async () => {
    const toml = '[server]\nbody_bytes = 2000\nrate_requests = 3\nrate_seconds = 60\n'
    const server = await serve({ toml })
    const long = await server.call('/api/v1/flex/runs', envelope('x'.repeat(3_000)))
    expect(long.status).toBe(413)
    expect(await long.text()).toContain('2000')
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await server.call('/api/v1/flex/runs')).status)
    expect(statuses.at(-1)).toBe(429)
    await server.stop()

    const wider = await serve({ toml, args: ['--rate-limit', '1000', '--body-limit', '9000'] })
    expect((await wider.call('/api/v1/flex/prove', envelope('x'.repeat(3_000)))).status).toBe(200)
  })

  it('switched off by 0 do not refuse', async () => {
    const toml = '[server]\nrate_requests = 2\nrate_seconds = 600\n'
    const server = await serve({ toml, env: { PROVISO_RATE_REQUESTS: '0' } })
    const calls = await Promise.all(
      Array.from({ length: 20 }, () => server.call('/api/v1/flex/runs?limit=1')),
    )
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('retention', () => {
  it('deletes finished runs that are older, and only those', { timeout: 180_000 }, async () => {
    const pausing = {
      runtime: [{ id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } }],
    }
    const first = await serve({})
    const ended = await first.run({
      ...envelope('x'),
      draft: { nodes: [{ id: 'a', capabilityId: 'unregistered' }] },
    })
    const waiting = await first.run({ envelope: { ...envelope('x').envelope, policies: pausing } })
    expect(ended.at(-1)).toMatchObject({ type: 'complete' })
    await first.stop()
    const second = await serve({ folder: first.folder, args: ['--retention', '1s'] })
    const ids = async () => {
      const page = (await (await second.call('/api/v1/flex/runs')).json()) as { runs: { runId: string }[] }
      return page.runs.map(({ runId }) => runId)
    }
    expect(await ids()).toContain(waiting[0]?.runId)
    await second.stop()
    // Older than a second by now: the next start deletes it.
    await expect
      .poll(async () => {
        const store = await openStore(`sqlite:${join(first.folder, 'proviso.db')}`, { readOnly: true })
        const [run] = await store.runs({ status: ['failed'], limit: 1 })
        await store.close()
        return run === undefined || Date.now() - run.updatedAt > 1_100
      })
      .toBe(true)
    const third = await serve({ folder: first.folder, args: ['--retention', '1s'] })
    await expect
      .poll(async () => {
        const page = (await (await third.call('/api/v1/flex/runs')).json()) as { runs: { runId: string }[] }
        return page.runs.map(({ runId }) => runId)
      })
      .toEqual([waiting[0]?.runId])
  })
})

describe('mistakes', () => {
  it('in proviso.toml are located errors with a suggestion, and nothing starts', async () => {
    const { code, stderr } = await refusedStart({ toml: '[planner]\ntimeout_mss = 5\n' })
    expect(code).toBe(2)
    expect(stderr).toContain('proviso.toml:2')
    expect(stderr).toMatch(/Did you mean "timeout_ms"/)
  })

  it.each([
    [{ FLEX_PLANNER_TIMEOUT_MS: 'soon' }, 'FLEX_PLANNER_TIMEOUT_MS'],
    [{ PROVISO_PLANNER: 'serach' }, 'PROVISO_PLANNER'],
  ])('in the value of a variable are errors: %j', async (env, name) => {
    const { code, stderr } = await refusedStart({ env: { ...env } })
    expect(code).toBe(2)
    expect(stderr).toContain(name)
  })

  it('in an address are errors before anything starts', async () => {
    const { code, stderr } = await refusedStart({ env: { PROVISO_COMPATIBLE_BASE_URL: 'notaurl' } })
    expect(code).toBe(2)
    expect(stderr).toContain('PROVISO_COMPATIBLE_BASE_URL must be an http or https URL, got "notaurl"')
  })

  it('in values that have no effect are reported at start, with what is accepted', async () => {
    const server = await serve({
      env: { USE_FLEX_DEV_SANDBOX: 'maybe', PROVISO_LEDGER: 'yes', OPENAI_DEFAULT_MODEL: 'foo/bar' },
    })
    await server.says('USE_FLEX_DEV_SANDBOX="maybe" has no effect: set it to 1, true, yes or on')
    await server.says('PROVISO_LEDGER="yes" has no effect: set it to 1 or 0.')
    await server.says('OPENAI_DEFAULT_MODEL="foo/bar" names no known provider')
  })

  it('in the value of a flag are errors that name the flag', async () => {
    const { code, stderr } = await refusedStart({ args: ['--body-limit', 'big'] })
    expect(code).toBe(2)
    expect(stderr).toContain('--body-limit')
  })

  it('every variable of the specifications that has no effect is reported at start, with what to use instead', async () => {
    const server = await serve({
      env: {
        HITL_MAX_REQUESTS: '3',
        SSE_CONCURRENCY: '4',
        FLEX_PLANER_MODEL: 'openai/gpt-5',
        PROVISO_BODY_BYTE: '1',
      },
    })
    await server.says('HITL_MAX_REQUESTS has no effect here')
    await server.says('SSE_CONCURRENCY has no effect here: set PROVISO_MAX_STREAMS.')
    await server.says('Did you mean FLEX_PLANNER_MODEL?')
    await server.says('Did you mean PROVISO_BODY_BYTES?')
  })
})

describe('help', () => {
  it('names every flag, and proviso config explains every setting', async () => {
    const help = await proviso(['serve', '--help'])
    for (const flag of [
      '--planner',
      '--planner-model',
      '--planner-timeout',
      '--planner-rows',
      '--body-limit',
      '--answer-limit',
      '--rate-limit',
      '--retention',
      '--config',
    ])
      expect(help.stdout).toContain(flag)
    const config = await proviso(['config', '--explain'], { env: { FLEX_PLANNER_MODEL: 'openai/gpt-5' } })
    expect(config.stdout).toMatch(/planner\.model\s+openai\/gpt-5\s+\$FLEX_PLANNER_MODEL/)
    expect(config.stdout).toContain('server.body_bytes')
    expect(config.stdout).toContain('retention.keep')
  })
})
