/** The warning on stderr of a crash without an `onCrash` handler. */
import { afterEach, describe, expect, it } from 'vitest'
import { createRedactor } from '../domain/redaction/redact.ts'
import { reportCrash } from './app-parts.ts'

type Warning = Error & { readonly code?: string; readonly detail?: string }

const warnings: Warning[] = []
const collect = (warning: Error) => warnings.push(warning)
process.on('warning', collect)
afterEach(() => warnings.splice(0))

/** Warnings are emitted in the next tick. */
const nextTick = () => new Promise((resolve) => setImmediate(resolve))

describe('a crash without an onCrash handler', () => {
  const report = reportCrash(createRedactor({ secrets: ['geheim-4711'] }))

  it('is a warning of the process that names the run and says that it is kept, without secrets', async () => {
    report('run-7', new Error('No such thing as geheim-4711'))
    await nextTick()
    expect(warnings).toMatchObject([{ name: 'ProvisoWarning', code: 'run/crashed' }])
    expect(warnings[0]?.message).toContain('Run "run-7" crashed in this process: No such thing')
    expect(warnings[0]?.message).toContain('can be claimed again')
    expect(warnings[0]?.detail).toContain('app-parts.test.ts')
    expect(`${warnings[0]?.message} ${warnings[0]?.detail}`).not.toContain('geheim')
  })

  it('is said once of a store that does not answer, until something else is wrong', async () => {
    for (const why of ['gone', 'gone', 'gone', 'full']) report('', new Error(why))
    await nextTick()
    expect(warnings.map(({ message }) => message)).toEqual([
      'Cannot read the store, retrying: gone',
      'Cannot read the store, retrying: full',
    ])
  })
})
