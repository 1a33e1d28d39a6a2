/** What is said on stderr when nobody else is told. */
import { afterEach, describe, expect, it } from 'vitest'
import { createRedactor } from '../domain/redact.ts'
import { reportCrash } from './report-crash.ts'

type Warning = Error & { readonly code?: string; readonly detail?: string }

const heard: Warning[] = []
const hear = (warning: Error) => heard.push(warning)
process.on('warning', hear)
afterEach(() => heard.splice(0))

/** Warnings are told in the next tick. */
const told = () => new Promise((resolve) => setImmediate(resolve))

describe('a crash that no onCrash is told of', () => {
  const report = reportCrash(createRedactor({ secrets: ['geheim-4711'] }))

  it('is a warning of the process that names the run and says that it is kept, without secrets', async () => {
    report('run-7', new Error('No such thing as geheim-4711'))
    await told()
    expect(heard).toMatchObject([{ name: 'ProvisoWarning', code: 'run/crashed' }])
    expect(heard[0]?.message).toContain('"run-7" could not go on in this process: No such thing')
    expect(heard[0]?.message).toContain('can be claimed again')
    expect(heard[0]?.detail).toContain('report-crash.test.ts')
    expect(`${heard[0]?.message} ${heard[0]?.detail}`).not.toContain('geheim')
  })

  it('is said once of a store that does not answer, until something else is wrong', async () => {
    for (const why of ['gone', 'gone', 'gone', 'full']) report('', new Error(why))
    await told()
    expect(heard.map(({ message }) => message)).toEqual([
      'The store does not answer, and is asked again: gone',
      'The store does not answer, and is asked again: full',
    ])
  })
})
