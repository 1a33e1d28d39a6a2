/** The documents are true where a machine can tell: every link leads somewhere, every source file named is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './support.ts'

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

it('names in the map only source files that exist', () => {
  const sources = new Set(
    readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => basename(name)),
  )
  const planned = new Set(['app.ts', 'index.ts'])
  const named = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/`(?:[\w/-]+\/)?([\w-]+\.ts)`/g)
  for (const [, file = ''] of named) expect(sources.has(file) || planned.has(file), file).toBe(true)
})

function headings(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}
