/** The playground page in a real Chromium: what is typed is read, nothing leaves the page, and no text can break it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, missingChromium } from '../../scripts/chromium.mjs'
import { type Site, serveFiles } from '../packages/chromium.ts'
import { requireBuilt, root } from '../support.ts'

const folder = join(root, 'docs', 'playground')
const address = pathToFileURL(join(folder, 'index.html')).href
const policy = "default-src 'none'; script-src 'self'; style-src 'self'"
const limits = { fragment: 100_000, deadlineMs: 5_000 }

describe.skipIf(missingChromium() !== undefined)('the playground', () => {
  let browser: Browser
  let site: Site
  let page: Page
  let complaints: string[]
  let requests: string[]

  beforeAll(async () => {
    requireBuilt('playground')
    browser = await launchChromium()
    const files = ['index.html', 'playground.css', 'playground.js'].map(
      (name) => [`/${name}`, readFileSync(join(folder, name), 'utf8')] as const,
    )
    site = await serveFiles(new Map(files), policy)
    page = await browser.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('request', (request) => requests.push(request.url()))
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  /** Loads the page anew, with empty lists of what it complains about and asks for. */
  async function open(at = address): Promise<void> {
    // A change of the fragment alone would not load the page.
    await page.goto('about:blank')
    ;[complaints, requests] = [[], []]
    await page.goto(at)
  }

  const status = (words: string) => page.locator('#status', { hasText: words }).waitFor()
  const inputOf = (id: string) => page.locator(`#${id}`).inputValue()

  async function type(text: string, schema = ''): Promise<void> {
    await page.locator('#schema').fill(schema)
    await page.locator('#text').fill(text)
    await settled()
  }

  /** What is shown is of what was typed. */
  async function settled(): Promise<void> {
    await page.locator('#status[aria-busy="false"]').waitFor()
  }

  it('reads an example at once, from a file and served under a strict policy, and asks for nothing else', async () => {
    await open()
    await status('Valid value, 13 changes.')
    expect(JSON.parse((await page.locator('#value').textContent()) ?? '')).toMatchObject({ age: 36 })
    expect(requests.filter((url) => !/^(file|blob):/.test(url))).toEqual([])
    expect(complaints).toEqual([])
    await open(`${site.url}/index.html`)
    await status('Valid value, 13 changes.')
    expect(requests.filter((url) => !url.startsWith(site.url))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('shows the value, every repair in the text and every issue with its place, as the user types', async () => {
    await open()
    await type("Sure: {'n': '7',", '{"type": "object", "properties": {"n": {"type": "integer"}}}')
    await status('Valid value')
    expect(await page.locator('#value').textContent()).toBe('{\n  "n": 7\n}')
    expect(await page.locator('#marked mark').allTextContents()).toEqual(['Sure: ', "'n'", "'7'", ','])
    expect(await page.locator('#marked ins').allTextContents()).toEqual(['}'])
    await page.locator('#text').press('End')
    await page.locator('#text').pressSequentially(' "m": -1, "n": "x"}')
    await settled()
    await status('No valid value: 1 issue')
    await page.locator('#issues button').click()
    const selected = await page.evaluate('document.getSelection().toString()')
    expect(selected).toBe('"x"')
    await page.locator('#aop').selectOption('off')
    await status('No valid value: 1 issue, no change.')
    expect(await page.locator('#issues').textContent()).toContain('output/not-json')
  })

  it('says what is wrong with the schema', async () => {
    await open()
    await type('1', '{"type": }')
    await status('The schema is not JSON: unexpected "}" at offset 9.')
    await type('1', '{"type": "nonsense"}')
    await status('No valid value: 1 issue')
    expect(await page.locator('#issues').textContent()).toContain('schema /type')
    await type('["a"]', 'string[]')
    await status('Valid value, no change.')
  })

  it('shows partial values of a stream: played, and at any place of the slider', async () => {
    await open()
    await type('{"name": "Ada", "age": 36}')
    await status('Valid value')
    await page.locator('#arrived').fill('14')
    await page.locator('#partial', { hasText: '"Ada"' }).waitFor()
    expect(await page.locator('#partial').textContent()).not.toContain('age')
    await page.locator('#play').click()
    await page.locator('#arrived-count', { hasText: '26 of 26' }).waitFor()
    await page.locator('#partial', { hasText: '36' }).waitFor()
    await page.locator('#play', { hasText: 'Play stream' }).waitFor()
  })

  it('shares text, schema and options by the fragment alone', async () => {
    await open()
    const [text, schema] = ['{"a": "\u{1f600} <b>"', '{"type": "object"}']
    await type(text, schema)
    await page.locator('#acceptTruncated').check()
    await page.locator('#prefer').selectOption('last')
    await page.locator('#share').click()
    await page.locator('#share-status', { hasText: 'selected' }).waitFor()
    const link = await inputOf('link')
    expect(link.startsWith(`${address}#`)).toBe(true)
    const shown = await page.locator('#value').textContent()
    await open(link)
    await page.locator('#value', { hasText: '"a"' }).waitFor()
    expect([await inputOf('text'), await inputOf('schema'), await inputOf('prefer')]).toEqual([
      text,
      schema,
      'last',
    ])
    expect(await page.locator('#acceptTruncated').isChecked()).toBe(true)
    expect(await page.locator('#value').textContent()).toBe(shown)
  })

  it.each([
    ['broken', '#1.%%%'],
    ['of another page', '#chapter-2'],
    ['with options that there are not', `#1.${btoa('{"text":"1","schema":"","options":{"aop":"evil"}}')}`],
    ['huge', `#1.${'A'.repeat(limits.fragment)}`],
  ])('opens with a message when the link is %s, and keeps working', async (_, fragment) => {
    await open(address + fragment)
    await status('Cannot open the link')
    await type('[1,]')
    await status('Valid value, 1 change.')
    expect(complaints).toEqual([])
  })

  it('refuses to make a link that is too long, and says so', async () => {
    await open()
    await type('x'.repeat(limits.fragment))
    await page.locator('#share').click()
    await page.locator('#share-status', { hasText: `more than ${limits.fragment}` }).waitFor()
    expect(await inputOf('link')).toBe('')
  })

  it('never takes text for markup', async () => {
    await open()
    const attack = '<img src=x onerror="globalThis.hacked=1"></pre><script>globalThis.hacked=1</script>'
    const before = await page.locator('body img, body script').count()
    await type(
      `${attack} {"${attack.replaceAll('"', "'")}": '${attack}', ${attack}`,
      '{"type": "object", "required": ["<b>", "<i>"]}',
    )
    expect(await page.locator('#issues').textContent()).toContain('<b>')
    await page.locator('#arrived').fill('90')
    await page.locator('#arrived-count', { hasText: '90 of' }).waitFor()
    const after = await page.locator('body img, body script').count()
    expect(after).toBe(before)
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    expect(complaints).toEqual([])
  })

  it('reads 1 MB of broken text beside the page, and shows a bounded part of it', async () => {
    await open()
    const text = `[${'{a: 1,},'.repeat(1_000)}"${'x'.repeat(1_000_000)}", 'y',]`
    await type(text, '{"type": "array"}')
    await status('Valid value')
    expect(await page.locator('#repair-count').textContent()).toContain('the first 500 of')
    const shown = await page.locator('#marked').textContent()
    expect(shown?.length).toBeLessThan(200_000)
    expect(
      await page
        .locator('#value')
        .textContent()
        .then((value) => value?.length ?? 0),
    ).toBeLessThan(100_000)
    expect(await page.locator('#marked *').count()).toBeLessThan(3_000)
  })

  it.each([
    { name: 'light', colorScheme: 'light', width: 1280 },
    { name: 'dark', colorScheme: 'dark', width: 1280 },
    { name: 'narrow', colorScheme: 'light', width: 390 },
  ] as const)('has no violation of accessibility that axe finds, $name', async ({ colorScheme, width }) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await open()
    await type(
      '{"a": 1, b: "x"',
      '{"type": "object", "properties": {"a": {"type": "string"}, "c": {}}, "required": ["c"]}',
    )
    await status('No valid value')
    await page.evaluate(createRequire(import.meta.url)('axe-core').source)
    const found = (await page.evaluate('axe.run()')) as {
      readonly violations: readonly { readonly id: string }[]
    }
    expect(found.violations.map(({ id }) => id)).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBeLessThanOrEqual(0)
  })

  it('is used with the keyboard in the order of the page', async () => {
    await open()
    await status('Valid value')
    const order: string[] = []
    for (let at = 0; at < 11; at++) {
      await page.keyboard.press('Tab')
      order.push(await page.evaluate<string>('document.activeElement.id'))
    }
    const options = ['example', 'aop', 'prefer', 'acceptTruncated', 'salvage', 'defaults', 'untrusted']
    expect(order).toEqual([...options, 'text', 'schema', 'value', 'marked'])
  })

  it('stays usable while a reading does not end, stops it at its deadline, and reads on', async () => {
    // With timers that only the test moves on; in the worker time passes as ever.
    await page.clock.install()
    await open()
    // Backtracking that takes longer than anyone waits: the schema is trusted, so the native engine runs it.
    await page.locator('#schema').fill('{"type": "string", "pattern": "^(a+)+$"}')
    await page.locator('#text').fill(`"${'a'.repeat(60)}!"`)
    await page.clock.runFor(1_000)
    await page.locator('#text').pressSequentially(' more')
    expect(await inputOf('text')).toContain('!" more')
    await page.clock.runFor(limits.deadlineMs)
    await status(`Stopped: reading took longer than ${limits.deadlineMs} ms.`)
    await page.locator('#schema').fill('')
    await page.locator('#text').fill('[1,]')
    await page.clock.runFor(1_000)
    await status('Valid value, 1 change.')
  })
})
