/** The flag of the sandbox, under both its names, and the log, as the environment of a server says. */
import { describe, expect, it } from 'vitest'
import { readEnv } from '../seams/base.ts'
import { getSandboxRoutes, isOn, logOptions } from '../seams/cli.ts'
import { open, tea } from '../server/support.ts'

describe('the sandbox of a server', () => {
  it.each(['USE_FLEX_DEV_SANDBOX', 'VITE_USE_FLEX_DEV_SANDBOX'])('is there with %s=true', async (name) => {
    const app = await open(tea)
    expect(getSandboxRoutes(readEnv({ [name]: 'true' }), app)).toHaveLength(3)
  })

  it('is not there otherwise', async () => {
    const app = await open(tea)
    for (const flag of ['', 'false', '0', 'off', 'perhaps'])
      expect(getSandboxRoutes(readEnv({ USE_FLEX_DEV_SANDBOX: flag }), app)).toEqual([])
    expect(['1', 'TRUE', 'yes', 'on'].map(isOn)).toEqual([true, true, true, true])
  })
})

describe('the log of a server', () => {
  it('is on unless in development, says what the environment wants, and refuses what is no level', () => {
    expect(logOptions({}, { dev: true, verbose: false })).toEqual({})
    expect(logOptions({}, { dev: false, verbose: false })).toMatchObject({
      log: { level: 'info', verbose: false },
    })
    expect(logOptions({}, { dev: false, verbose: true })).toMatchObject({ log: { verbose: true } })
    expect(
      logOptions(readEnv({ PROVISO_LOG: 'warn', PROVISO_TELEMETRY_VERBOSE: 'true' }), {
        dev: true,
        verbose: false,
      }),
    ).toMatchObject({ log: { level: 'warn', verbose: true } })
    expect(() => logOptions({ log: 'loud' }, { dev: true, verbose: false })).toThrow(
      'PROVISO_LOG is no level',
    )
  })
})
