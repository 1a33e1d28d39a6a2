/** The page of settings has an example for every knob (AROS-74), and what it shows is what is read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { arosTable, describeSourceIssue, readConfig, serverKeys } from '../../src/pipeline/index.ts'
import { compile } from '../pipelines/support.ts'
import { writtenProcessing } from '../seams/domain.ts'
import { root } from '../support.ts'

const page = readFileSync(join(root, 'docs/reference/settings.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  )

it('shows every setting of proviso.toml in blocks that can be read', () => {
  const said = blocks('toml').flatMap((text) => {
    const read = readConfig(text)
    if (!read.ok) throw new Error(read.issues.map(describeSourceIssue).join('\n'))
    return [...read.file.values.keys()]
  })
  expect(said).toEqual(expect.arrayContaining(Object.keys(arosTable).map((key) => `aros.${key}`)))
  expect(said).toContain('preset')
  expect(said).toEqual(expect.arrayContaining([...serverKeys]))
})

it('shows every key of processing in a pipeline that compiles', () => {
  const [text = ''] = blocks('yaml')
  const step = compile(text, { input: 'x' }).draft.nodes.find(({ id }) => id === 'read')
  const { properties } = writtenProcessing as { properties: object }
  // What is a default of the schema's own, such as delimiters, is in the reference of models.
  const shown = Object.keys(step?.data?.['processing'] ?? {})
  expect(shown).toEqual(expect.arrayContaining(Object.keys(properties)))
})
