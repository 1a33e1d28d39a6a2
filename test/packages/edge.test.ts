/** `@proviso/reader`, as npm installs it, reads the same in Chromium under a strict CSP and in workerd as in Node. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'tsdown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingChromium } from '../../scripts/chromium.mjs'
import { root } from '../support.ts'
import { serveFiles, withPage } from './chromium.ts'
import { installPacked, type Project } from './install.ts'
import { pairs } from './pairs.ts'
import { type Played, play } from './play.ts'
import { askWorker } from './workerd.ts'

const withoutChromium = missingChromium()
const entries = { light: '@proviso/reader', full: '@proviso/reader/full' }
type Entry = keyof typeof entries

let project: Project
const inNode = new Map<Entry, Played>()

beforeAll(async () => {
  project = await installPacked(['@proviso/reader'])
  // A string inside of code: bundlers refuse lone surrogates in a file of JSON.
  const data = `export const pairs = JSON.parse(${JSON.stringify(JSON.stringify(pairs))})\n`
  writeFileSync(join(project.folder, 'pairs.js'), data)
  for (const entry of ['light', 'full'] as const) {
    const file = join(project.folder, 'node_modules/@proviso/reader/dist', `${entry}.js`)
    inNode.set(entry, play(await import(pathToFileURL(file).href), JSON.parse(JSON.stringify(pairs))))
  }
}, 300_000)

afterAll(() => project?.remove())

/** Bundles the pairs and what plays them with a reader into one file, as a user's bundler does. Returns its path. */
async function bundle(target: 'browser' | 'workerd', entry: Entry): Promise<string> {
  const name = `${target}-${entry}`
  const file = join(project.folder, `${name}.ts`)
  const finish =
    target === 'workerd'
      ? 'export default { fetch: () => new Response(JSON.stringify(play(reader, pairs))) }'
      : 'globalThis.played = play(reader, pairs)'
  writeFileSync(
    file,
    `import * as reader from ${JSON.stringify(entries[entry])}
    import { play } from ${JSON.stringify(join(root, 'test/packages/play.ts'))}
    import { pairs } from './pairs.js'
    ${finish}\n`,
  )
  await build({
    config: false,
    cwd: project.folder,
    entry: { [name]: file },
    outDir: join(project.folder, 'bundled'),
    clean: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    dts: false,
    logLevel: 'error',
    outExtensions: () => ({ js: '.js' }),
    deps: { alwaysBundle: [/./] },
    ...(target === 'workerd' && {
      inputOptions: { resolve: { conditionNames: ['workerd', 'worker', 'import', 'default'] } },
    }),
  })
  return join(project.folder, 'bundled', `${name}.js`)
}

function expectSame(entry: Entry, played: Played): void {
  const expected = inNode.get(entry)?.lines ?? []
  expect(played.lines).toHaveLength(expected.length)
  // The first few differences say enough.
  const different = expected.flatMap((line, at) =>
    line === played.lines[at] ? [] : [{ line, got: played.lines[at] }],
  )
  expect(different.slice(0, 2)).toEqual([])
  expect(played.repeated).toBe(500)
  expect(played.refusal).toBe('EvalError')
}

describe('the fixed list of pairs', () => {
  it('has at least 200 pairs, of which none makes the reader throw in Node', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(200)
    for (const { lines, repeated, refusal } of inNode.values()) {
      expect(lines.filter((line) => line.startsWith('{"threw"'))).toEqual([])
      expect(lines).toHaveLength(pairs.length)
      expect({ repeated, refusal }).toEqual({ repeated: 500, refusal: '' })
    }
  })

  it('is read alike by the light and the full reader, besides patterns of untrusted schemas', () => {
    const [light, full] = [inNode.get('light')?.lines ?? [], inNode.get('full')?.lines ?? []]
    const different = pairs.filter((_, at) => light[at] !== full[at])
    expect(different.filter(({ options }) => options?.['untrusted'] !== true)).toEqual([])
    expect(different.length).toBeGreaterThan(0)
    for (const [at, pair] of pairs.entries())
      if (pair.options?.['untrusted'] === true) expect(light[at]).toMatch(/"code":"schema\/(limit|invalid)"/)
  })
})

describe.skipIf(withoutChromium !== undefined)('in Chromium under a strict CSP', () => {
  it.each(['light', 'full'] as const)(
    'reads every pair as in Node (%s)',
    async (entry) => {
      const code = readFileSync(await bundle('browser', entry), 'utf8')
      const watch = `globalThis.violations = []
      addEventListener('securitypolicyviolation', ({ blockedURI }) => violations.push(blockedURI))`
      const site = await serveFiles(
        new Map([
          ['/watch.js', watch],
          ['/reader.js', code],
          [
            '/index.html',
            '<!doctype html><script src="watch.js"></script><script type="module" src="reader.js"></script>',
          ],
        ]),
      )
      try {
        await withPage(async (page) => {
          const errors: string[] = []
          page.on('pageerror', (error) => errors.push(String(error)))
          await page.goto(`${site.url}/index.html`)
          expectSame(entry, (await page.evaluate('globalThis.played')) as Played)
          expect(errors).toEqual([])
          // One is of the test itself; the full reader asks once whether code may be generated.
          const violations = (await page.evaluate('globalThis.violations')) as string[]
          expect(violations).toEqual(Array(entry === 'light' ? 1 : 2).fill('eval'))
        })
      } finally {
        await site.close()
      }
    },
    180_000,
  )
})

describe('in workerd', () => {
  it.each(['light', 'full'] as const)(
    'reads every pair as in Node (%s)',
    async (entry) => {
      const answer = await askWorker(await bundle('workerd', entry))
      expectSame(entry, JSON.parse(answer) as Played)
    },
    180_000,
  )
})
