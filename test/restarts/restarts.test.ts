/** A start of a run that exists is answered after every restart; `npm run restarts` is the long form. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { describeRestarts, withStore } from './main.ts'
import { runRestarts } from './restarts.ts'

const long = process.env['PROVISO_LONG'] === '1'
const restarts = long ? 1_000 : 6

let program = ''
let dispose = () => {}
beforeAll(async () => {
  const compiled = await compile({ child: 'test/restarts/child.ts' })
  program = compiled.programs.child
  dispose = compiled.dispose
})
afterAll(() => dispose())

const stores = missingPostgres() === undefined ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)

it.each(stores)(
  'no start of an old id hangs while a restarted process claims its runs: %s',
  async (store) => {
    const result = await withStore(store, (address) =>
      runRestarts({ program, store: address, restarts, seed: 1, leaseMs: 400 }),
    )
    console.log(describeRestarts(store, result))
    expect(result.hangs).toEqual([])
    expect(result.violations).toEqual([])
    expect(result.answers['run/exists']).toBeGreaterThan(restarts)
  },
  long ? 60 * 60_000 : 60_000,
)
