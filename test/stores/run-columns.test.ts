/** Columns of `flex_runs` that are derived from the envelope: persona and variant policy, empty where nothing is said. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createApp } from '../../src/index.ts'
import { envelope, local } from '../journeys/support.ts'
import { openLibsql } from '../seams/stores.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-columns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('keeps persona, variant policy and satisfaction beside the run, and nothing where nothing is said', async () => {
  const path = join(folder, 'runs.db')
  const app = await createApp({
    store: `sqlite:${path}`,
    capabilities: [local('write', () => ({ text: 'Tea' }))],
  })
  const flat = await app.run(envelope({ policies: { persona: 'marketer', variantCount: 2 } }))
  const profiled = await app.run(
    envelope({ inputs: { topic: 'tea', audienceProfile: { persona: 'founder' } } }),
  )
  const plain = await app.run(envelope())
  await app.close()
  const db = openLibsql(path)
  const rows = db.execute('select run_id, persona, variant_policy, satisfaction_score from flex_runs')
  db.close()
  const row = (runId: string) => rows.find((each) => each['run_id'] === runId)
  expect(row(flat.runId)).toMatchObject({ persona: 'marketer', satisfaction_score: 1 })
  expect(JSON.parse(String(row(flat.runId)?.['variant_policy']))).toEqual({ variantCount: 2 })
  expect(row(profiled.runId)).toMatchObject({ persona: 'founder', variant_policy: null })
  expect(row(plain.runId)).toMatchObject({ persona: null, variant_policy: null })
})
