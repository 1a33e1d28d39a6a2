/** The reference is complete: every option, method and field of the code is in its table. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from 'proviso'
import { capabilitySchema, draftSchema } from 'proviso/plan'
import { createMemoryStore } from 'proviso/stores/memory'
import { describe, expect, it } from 'vitest'
import { nodeSchema } from '../seams/domain.ts'
import { root } from '../support.ts'

/** The first cells of the tables under a heading, with what is quoted in them; `run(…)` counts as `run`. */
function namesUnder(page: string, heading: string): string[] {
  const text = readFileSync(join(root, 'docs/reference', page), 'utf8')
  const [, section = ''] = text.split(`\n${heading}\n`)
  const [part = ''] = section.split(/\n## /)
  const cells = [...part.matchAll(/^\| (.*?[^\\]) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)(?:\(.*?\))?`/g)].map(([, name = '']) => name))
}

describe('the reference names every', () => {
  it('option of createApp', async () => {
    const refused = await createApp({ nope: 1 } as object).catch((error: { hint: string }) => error.hint)
    const options = String(refused).replace('Use one of ', '').split(', ')
    expect(options.length).toBeGreaterThan(20)
    expect(namesUnder('engine.md', '## `createApp(options)`')).toEqual(expect.arrayContaining(options))
  })

  it('method of an app', async () => {
    const app = await createApp({ http: {} })
    await app.close()
    expect(namesUnder('engine.md', '## `createApp(options)`')).toEqual(
      expect.arrayContaining(Object.keys(app)),
    )
  })

  it('field of a capability', () => {
    const fields = [...Object.keys(capabilitySchema.properties), 'run']
    expect(namesUnder('engine.md', '## `defineCapability(definition)`')).toEqual(
      expect.arrayContaining(fields),
    )
  })

  it('field of a draft and of its nodes', () => {
    const fields = [...Object.keys(draftSchema.properties), ...Object.keys(nodeSchema.properties)]
    expect(namesUnder('plan.md', '### Draft fields')).toEqual(expect.arrayContaining(fields))
  })

  it('question to a store as it is asked', () => {
    const store = createMemoryStore()
    const named = namesUnder('stores.md', '## Queries')
    expect(named).toContain('runs')
    for (const name of named) expect(store, name).toHaveProperty(name, expect.any(Function))
  })
})
