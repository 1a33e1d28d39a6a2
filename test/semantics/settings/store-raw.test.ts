/** `store_raw = false` (DECISIONS 27): the raw texts of models are in no event of the store, through the library, the command line and the server. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { file, runFile, text } from '../../cli/run-support.ts'
import { envelope, journal, open, says } from '../../journeys/support.ts'
import { serveModel } from '../../models/serve-model.ts'
import { runCommand } from '../../support.ts'
import { wrongly } from '../../wrongly.ts'
import { refusedStart, type ServeOptions, serve, useServeProcesses } from './serve-process.ts'

useServeProcesses()

const folder = mkdtempSync(join(tmpdir(), 'proviso-raw-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The spacing is in the raw text alone: neither a value nor a repair has it. */
const good = '{"text":    "Tea"}'
/** Not what the contract asks for: the attempt fails. */
const bad = '{"words":    "Tea"}'
const spacing = /: {4}\\*"Tea/

/** Whether a raw text is stored, of an attempt that succeeded and of one that failed. */
const both = [
  ['kept', undefined],
  ['kept', true],
  ['not stored', false],
] as const

describe('the raw text of a model is', () => {
  it.each(both)('%s with storeRaw %s of createApp', async (_, storeRaw) => {
    const capabilities = [says('good', [good]), says('bad', [bad])]
    const app = await open({ capabilities, ...(storeRaw !== undefined && { storeRaw }) })
    for (const capabilityId of ['good', 'bad']) {
      const draft = { nodes: [{ id: 'write', capabilityId }] }
      const { runId, status } = await app.run(envelope(), { draft })
      expect(status).toBe(capabilityId === 'good' ? 'completed' : 'failed')
      const events = JSON.stringify(await journal(app, runId))
      expect(spacing.test(events), capabilityId).toBe(storeRaw !== false)
    }
  })

  it.each(both)('%s with store_raw %s of proviso.toml, by proviso run', async (_, storeRaw) => {
    const toml = file(
      `raw-${storeRaw}.toml`,
      storeRaw === undefined ? '' : `[aros]\nstore_raw = ${storeRaw}\n`,
    )
    const server = await serveModel([{ text: good }])
    const pipeline = `name: tea
agents: { writer: { model: "compatible/${server.url}#m", output_schema: ${JSON.stringify(text)} } }
steps: [{ name: write, agent: writer }]
`
    const works = [
      [file(`raw-${storeRaw}.yaml`, pipeline), '--input', 'tea'],
      [file(`raw-${storeRaw}.json`, runFile({ script: [{ text: good }] }))],
    ]
    for (const [index, work] of works.entries()) {
      const path = join(folder, `run-${storeRaw}-${index}.db`)
      const done = await runCommand(['run', ...work, '--config', toml, '--store', `sqlite:${path}`])
      expect(done.code, done.stderr).toBe(0)
      expect(isStored(path)).toBe(storeRaw !== false)
    }
  })

  it.each<[string, ServeOptions, boolean]>([
    ['kept by default', {}, true],
    ['not stored with the file', { toml: '[aros]\nstore_raw = false\n' }, false],
    ['not stored with the variable', { env: { PROVISO_AROS_STORE_RAW: 'false' } }, false],
  ])('%s, by proviso serve', async (_, options, kept) => {
    const model = await serveModel([{ text: good }])
    const server = await serve({
      ...options,
      env: { FLEX_OPENAI_DEFAULT_MODEL: `compatible/${model.url}#m`, ...options.env },
    })
    const frames = await server.run({
      envelope: { objective: 'One line about tea', outputContract: { schema: text } },
    })
    expect(frames.at(-1)).toMatchObject({ payload: { status: 'completed', output: { text: 'Tea' } } })
    await server.stop()
    expect(isStored(join(server.folder, 'proviso.db'))).toBe(kept)
  })

  it('a wrong value is refused, and config --explain shows the setting', async () => {
    const refused = await refusedStart({ toml: '[aros]\nstore_raw = "no"\n' })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('aros.store_raw')
    await expect(open({ storeRaw: wrongly('no') })).rejects.toThrow('storeRaw')
    const shown = await runCommand(['config', '--explain', '--set', 'store_raw=false'])
    expect(shown.stdout).toMatch(/aros\.store_raw\s+false/)
  })
})

/** Searches the file itself, with its write-ahead log: no table is forgotten. */
function isStored(path: string): boolean {
  const bytes = [path, `${path}-wal`].map((name) => {
    try {
      return readFileSync(name, 'latin1')
    } catch {
      return ''
    }
  })
  expect(bytes.join('')).toContain('Tea')
  return spacing.test(bytes.join(''))
}
