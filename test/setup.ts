/**
 * Before every test file: properties are tried on the same cases each time (`PROVISO_SEED=N` generates others), and what
 * helpers opened is closed after each test.
 */
import fc from 'fast-check'
import { afterAll, afterEach } from 'vitest'
import { cleanUp } from './cleanup.ts'

fc.configureGlobal({ seed: Number(process.env['PROVISO_SEED'] ?? 20_261_116) })

afterEach(() => cleanUp('test'))
afterAll(() => cleanUp('file'))
