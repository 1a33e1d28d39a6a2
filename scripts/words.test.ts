/** The check of words finds them in prose, names, messages and file names, and lets ordinary English pass. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkWords, compareWithLimits, countByFolder, findWords, type WordRules } from './words-check.mjs'
import { wordRules } from './words-rules.mjs'

const found = (text: string, file = 'docs/a.md') => findWords(file, text, wordRules).map((each) => each.found)

describe('prose', () => {
  it.each([
    ['Nobody waits.', ['Nobody']],
    ['whoever asks, those who ask and those that wait', ['whoever', 'those who', 'those that']],
    ['The caller is told; it tells others.', ['told', 'tells']],
    ['The text is mended by a mend.', ['mended', 'mend']],
    ['schemas from strangers', ['strangers']],
    ['It hands them in, and what was handed in', ['hands them in', 'handed in']],
    ['Look at how the run stands.', ['Look at', 'stands']],
    ['A limit that is none.', ['is none']],
    ['what becomes of a node', ['what becomes of']],
    ['It goes on, then lets go.', ['goes on', 'lets go']],
    ['a hopeless call', ['hopeless']],
    ['the house, its rooms and a door', ['house', 'rooms', 'door']],
    ['He sees his runs himself.', ['He', 'his', 'himself']],
    ['Whatever else it throws', ['Whatever']],
  ])('finds the words of "%s"', (text, words) => {
    expect(found(text)).toEqual(words)
  })

  it.each([
    'the, there, this, when, heap, Theo',
    'RAO stands for a contract, and the stand-in stands in for it',
    'there is none',
    'written by hand in a file, on the other hand',
    'There is room for one more.',
    'whatever the order, whatever its size',
    'standard, understand, outdoors-free, headroom, indoor, amendment, recommend, household',
    'Calls are told apart by their ids.',
  ])('lets "%s" pass', (text) => {
    expect(found(text)).toEqual([])
  })

  it('finds words across lines of a comment, with the location of the first', () => {
    const text = '/**\n * Called by those\n * who wait.\n */\n'
    expect(findWords('src/a.ts', text, wordRules)).toMatchObject([
      { file: 'src/a.ts', line: 2, column: 14, found: 'those who', group: 'banned' },
    ])
  })

  it('does not join words of two sentences or paragraphs', () => {
    expect(found('It goes. On Monday it stops. Let\n\ngo')).toEqual([])
  })
})

describe('code', () => {
  const inCode = (text: string) => found(text, 'src/a.ts')

  it.each([
    ['export function mendPipeline() {}', ['mend']],
    ['const letGo = goesOn()', ['letGo', 'goesOn']],
    ["throw new Error('There is nobody')", ['nobody']],
    ["const code = 'missing-teller'", ['teller']],
    ['function serveStrangers() {}', ['Strangers']],
    ['const IS_NONE = 1', ['IS_NONE']],
    ['function refuseTwins() {}', ['refuseTwins']],
    ['const tellOthers = 1', ['tellOthers']],
    ['interface A { hears(): void; stands: boolean }', ['hears', 'stands']],
  ])('finds the words of `%s`', (text, words) => {
    expect(inCode(text)).toEqual(words)
  })

  it('finds private nouns where they are declared, not in prose, not where they are used or imported', () => {
    const text = `
      import { Place, Span as Trace } from 'x'
      // A place and an offer, if you want: it may be a piece of it.
      interface Offer { place: string }
      const { moment, want: lesson } = use(market.place, { climb: 1 })
      function f(moment: Moment) { return moment }`
    expect(inCode(text)).toEqual(['Offer', 'place', 'lesson', 'moment'])
  })

  it('takes `he`, `may` and `give` for words only where they are the whole name', () => {
    expect(inCode('const heXY = theHe; const mayRun = 1; const may = 2')).toEqual(['may'])
  })

  it('finds words in the name of a file', () => {
    expect(findWords('src/pipeline/mend-text.ts', '', wordRules)).toMatchObject([{ line: 0, found: 'mend' }])
  })
})

describe('a tree', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  function check(tree: Record<string, string>, allowed: WordRules['allowed'] = []) {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-words-'))
    folders.push(folder)
    for (const [name, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return checkWords(folder, { ...wordRules, allowed })
  }

  it('is read in the folders and files of the rules, without dependencies and the texts of cases', () => {
    const { occurrences } = check({
      'src/engine/a.ts': '// nobody',
      'README.md': 'nobody',
      'docs/a.md': 'nobody',
      'other/a.md': 'nobody',
      'bench/node_modules/a/a.md': 'nobody',
      'test/cases/a.json': '"nobody"',
      'docs/a.png': 'nobody',
    })
    expect(occurrences.map(({ file }) => file)).toEqual(['README.md', 'src/engine/a.ts', 'docs/a.md'])
    expect(countByFolder(occurrences)).toEqual([
      { folder: 'README.md', total: 1, groups: { banned: 1 } },
      { folder: 'docs', total: 1, groups: { banned: 1 } },
      { folder: 'src/engine', total: 1, groups: { banned: 1 } },
    ])
  })

  it('accepts what the list of exceptions names, by file, folder, word and line', () => {
    const tree = { 'docs/a.md': 'nobody says: a door\nwhoever', 'docs/b/c.md': 'nobody' }
    const left = (allowed: Omit<WordRules['allowed'][number], 'reason'>) =>
      check(tree, [{ reason: 'a test', ...allowed }]).occurrences.map((each) => each.found)
    expect(left({ in: 'docs/a.md' })).toEqual(['nobody'])
    expect(left({ in: 'docs/b/' })).toEqual(['nobody', 'door', 'whoever'])
    expect(left({ in: 'docs/', word: 'nobody' })).toEqual(['door', 'whoever'])
    expect(left({ in: 'docs/a.md', text: 'a door' })).toEqual(['whoever', 'nobody'])
  })

  it('reports folders over their limit, and limits that are higher than needed', () => {
    const { occurrences } = check({
      'src/engine/a.ts': '// nobody',
      'src/plan/a.ts': '// nobody, whoever',
      'docs/a.md': 'nobody',
    })
    const limits = { 'src/engine': 1, 'src/plan': 1, 'src/output': 3 }
    expect(compareWithLimits(occurrences, { limits })).toEqual({
      exceeded: [
        'src/plan: 2 occurrences, at most 1 are accepted',
        'docs: 1 occurrences, at most 0 are accepted',
      ],
      canBeLowered: ['src/output: lower its limit in scripts/words-rules.mjs from 3 to 0'],
    })
  })

  it('reports an exception that nothing needs', () => {
    const entry = { in: 'docs/a.md', word: 'door', reason: 'a test' }
    expect(check({ 'docs/a.md': 'nobody' }, [entry]).unusedAllowed).toEqual([entry])
  })
})

it('has something to write instead for every word, and a reason for every exception', () => {
  for (const rule of Object.values(wordRules.groups).flat()) expect(rule.write).not.toBe('')
  for (const { reason } of wordRules.allowed) expect(reason.length).toBeGreaterThan(5)
})
