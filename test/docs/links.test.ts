/** The documents are true where a machine can check: every link has a target, every source file named exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support.ts'

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
]

it.each(pages)('%s links only to what exists', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)\s]+)\)/g)) {
    const [file = '', heading] = link.split('#')
    const target = join(root, dirname(page), file)
    expect(existsSync(target), `${page}: ${link}`).toBe(true)
    if (heading !== undefined) expect(headings(target), `${page}: ${link}`).toContain(heading)
  }
})

it('lists every page in the index, except the pages of single rules', () => {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const ours = pages.filter((page) => /^docs\/(?!README|rules\/(?!README))/.test(page))
  for (const page of ours) expect(index, page).toContain(`](${page.slice('docs/'.length)}`)
})

it('ARCHITECTURE.md names files and folders that exist, in at most 1,500 words', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const named = [...text.matchAll(/`((?:[a-z][\w-]*\/)+[\w-]+(?:\.ts)?)`/g)].map(([, path = '']) => path)
  const missing = named.filter((path) => !path.startsWith('proviso/') && !existsSync(join(root, 'src', path)))
  expect(named.length).toBeGreaterThan(20)
  expect(missing).toEqual([])
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(1_500)
})

it('the glossary of ARCHITECTURE.md has its 26 words, each with a meaning and the word of the field', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const [, glossary = ''] = text.split('## Glossary')
  const rows = [...(glossary.split('\n## ')[0] ?? '').matchAll(/^\| (\w+) \| (.+) \| (.+) \|$/gm)].slice(1)
  expect(rows.map(([, word]) => word)).toEqual(
    'Envelope Contract Condition Facet Capability Catalog Draft Plan Proof Obligation Node Attempt Run Event Journal Policy Ask Reply Output Repair Issue Provider Executor Store Pipeline Template'.split(
      ' ',
    ),
  )
})

function headings(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}
