/** Noise cut into random chunks: a stream shows nothing of reasoning and nothing behind a closed fence, and ends as `parse` does. */
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../../src/output/index.ts'
import { familyCorpus, type NoiseSample, noiseCorpus } from '../../../src/testing/index.ts'
import { pick, type Random, randomFrom } from '../../reader/generate.ts'

const SEED = 20_261_117
const BEHIND = `BEHIND "BEHIND", it's: 'BEHIND', "BEHIND": 5, BEHIND.`
const TAGS = ['think', 'thinking', 'reasoning']

/** Fences and reasoning of their own would hide where those of the test end. */
const samples = [
  ...noiseCorpus({ seed: SEED, count: 150, combine: false }),
  ...noiseCorpus({ seed: SEED, count: 150, combine: true }),
  ...familyCorpus({ seed: SEED, count: 15 }),
].filter(({ text }) => !/```|~~~|think/i.test(text))

function textFrom(random: Random, { text }: NoiseSample): string {
  const tag = pick(random, TAGS)
  const draft = pick(random, samples).text.replace(/\p{L}+/gu, 'SECRET')
  const thought = random() < 0.6 ? `<${tag}>\nSECRET: ${draft}\n</${tag}>\n\n` : ''
  if (random() < 0.3) return thought + text
  const mark = pick(random, ['```', '~~~'])
  const inside = random() < 0.4 ? text.slice(0, Math.floor(random() * text.length)).trimEnd() : text
  return `${thought}${mark}${pick(random, ['json', ''])}\n${inside}\n${mark}\n${BEHIND}`
}

function* chunksOf(random: Random, text: string): Generator<string> {
  const most = pick(random, [1, 5, 60])
  for (let at = 0; at < text.length; ) {
    const size = 1 + Math.floor(random() * most)
    yield text.slice(at, at + size)
    at += size
  }
}

describe(`noise in random chunks, seed ${SEED}`, () => {
  it('shows no reasoning and no prose behind a closed fence, and ends as parse does', () => {
    const random = randomFrom(SEED)
    let shown = 0
    for (const sample of samples) {
      const text = textFrom(random, sample)
      const schema = random() < 0.5 ? sample.schema : undefined
      const options = { ...sample.options, acceptTruncated: random() < 0.5 }
      const reader = createReader(schema, options)
      for (const chunk of chunksOf(random, text)) {
        const { partial } = reader.push(chunk)
        if (partial === undefined) continue
        shown++
        expect(JSON.stringify(partial), `${sample.id}: ${text}`).not.toMatch(/SECRET|BEHIND/)
      }
      expect(reader.end()).toEqual(parse(text, schema, options))
    }
    expect(shown).toBeGreaterThan(samples.length)
  }, 120_000)

  it('shows nothing behind a fence that follows a backslash', () => {
    const reader = createReader()
    const text = `~~~\n{"a":["x\\\n~~~\n${BEHIND}`
    for (const character of text)
      expect(JSON.stringify(reader.push(character).partial) ?? '').not.toContain('BEHIND')
  })

  it('continues when reasoning ends again and again', () => {
    const reader = createReader()
    const text = '</think>"a"{a:'.repeat(5)
    for (let at = 0; at < text.length; at += 7) reader.push(text.slice(at, at + 7))
    expect(reader.end()).toEqual(parse(text))
  })
})
