/** Names of models, keys and prices: what the environment contains, and what a name means. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  findPrice,
  generateValue,
  listPrices,
  parseModelId,
  priceList,
  providersFromKeys,
} from '../../src/adapters/models/index.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createApp } from '../../src/index.ts'
import { readEnv } from '../seams/base.ts'
import { computeCost, mostTokens, retryAfterMs, roughTokens, splitServer } from '../seams/models.ts'
import { root } from '../support.ts'
import { openAiServer } from './openai-server.ts'

describe('names of models', () => {
  it.each([
    ['openai/gpt-5-mini', 'openai', 'gpt-5-mini'],
    ['gpt-4o', 'openai', 'gpt-4o'],
    ['openai:gpt-4o', 'openai', 'gpt-4o'],
    ['ft:gpt-4o-mini:acme::1', 'openai', 'ft:gpt-4o-mini:acme::1'],
    ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    [
      'compatible/http://127.0.0.1:11434/v1#llama3.2:3b',
      'compatible',
      'http://127.0.0.1:11434/v1#llama3.2:3b',
    ],
    ['compatible/meta-llama/Llama-3.3-70B', 'compatible', 'meta-llama/Llama-3.3-70B'],
  ])('%s is %s and %s', (id, provider, model) => {
    expect(parseModelId(id)).toEqual({ provider, model })
  })

  it('a server in a name is split from its model', () => {
    expect(splitServer('http://h:1/v1#a/b:c')).toEqual({ baseURL: 'http://h:1/v1', model: 'a/b:c' })
    expect(splitServer('llama3.2')).toEqual({ model: 'llama3.2' })
  })

  it('a server that only a name mentions is called, without the key of another', async () => {
    const server = await openAiServer([{ text: 'Tea' }])
    const provider = compatible({ baseURL: 'http://127.0.0.1:9/v1', apiKey: 'sk-for-another-server' })
    const answer = await provider.generate({
      model: `${server.url}#some/model`,
      system: 's',
      prompt: 'p',
      idempotencyKey: 'k1',
      signal: new AbortController().signal,
    })
    await server.close()
    expect(answer).toMatchObject({ kind: 'text', text: 'Tea' })
    expect(server.seen[0]?.body['model']).toBe('some/model')
    expect(server.seen[0]?.headers).toMatchObject({ 'idempotency-key': 'k1' })
    expect(JSON.stringify(server.seen[0]?.headers)).not.toContain('sk-for-another-server')
  })
})

describe('the environment', () => {
  it('gives the model by the order of FLEX-108, and the key likewise', () => {
    const all = { FLEX_OPENAI_DEFAULT_MODEL: 'a', OPENAI_DEFAULT_MODEL: 'b', OPENAI_MODEL: 'c' }
    expect(readEnv(all).defaultModel).toBe('a')
    expect(readEnv({ ...all, FLEX_OPENAI_DEFAULT_MODEL: ' ' }).defaultModel).toBe('b')
    expect(readEnv({ OPENAI_MODEL: 'c' }).defaultModel).toBe('c')
    expect(readEnv({ OPENAI_API_KEY: 'two', FLEX_OPENAI_API_KEY: 'one' }).openaiApiKey).toBe('one')
    expect(readEnv({})).toEqual({})
  })

  it('makes providers of the keys that are there, and loads none of them', () => {
    const names = providersFromKeys(readEnv({ ANTHROPIC_API_KEY: 'x-secret-x' })).map(({ name }) => name)
    expect(names).toEqual(['anthropic', 'compatible'])
  })

  it('is read by one file of the library', () => {
    const readers = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('cli'))
      .filter((name) => readFileSync(join(root, 'src', name), 'utf8').includes('process.env'))
    expect(readers).toEqual(['env.ts'])
  })
})

describe('prices and waits', () => {
  it('are data, and unknown is unknown', () => {
    expect(findPrice('gpt-5-mini-2025-08-07')).toMatchObject({ inputPerMillion: 0.25 })
    expect(findPrice('anthropic/claude-opus-4-20250514')).toMatchObject({ outputPerMillion: 75 })
    expect(findPrice('gpt-4o-2024-05-13')).toMatchObject({ inputPerMillion: 5 })
    for (const id of [
      'unknown-model',
      'gpt-5-mini-next',
      'anthropic/claude-opus-4-9',
      'gpt-5.9',
      'google/gemini-2.5-flash-image',
    ])
      expect(findPrice(id), id).toBeUndefined()
    expect(priceList).toMatchObject({ verified: false, asOf: expect.stringMatching(/^\d{4}-\d{2}$/) })
    expect(priceList.note).toContain(priceList.asOf)
    expect(computeCost({ inputTokens: 5 }, undefined)).toBeUndefined()
    const own = [{ model: 'openai/gpt-5', inputPerMillion: 1, outputPerMillion: 1 }]
    expect(findPrice('openai/gpt-5', own)).toBe(own[0])
    for (const { model } of listPrices) expect(model).toMatch(/^[a-z]+\/[\w.*-]+$/)
  })

  const price = { model: 'openai/gpt-5', inputPerMillion: 1, outputPerMillion: 1 }
  it.each([
    ['/prices/0/inputPerMilion', { ...price, inputPerMilion: 1 }, 'Did you mean "inputPerMillion"?'],
    [
      '/prices/0/inputPerMilion',
      { model: 'a/b', inputPerMilion: 1, outputPerMillion: 1 },
      'Did you mean "inputPerMillion"?',
    ],
    ['/prices/0/outputPerMillion', { ...price, outputPerMillion: -1 }, undefined],
    ['/prices/0/inputPerMillion', { ...price, inputPerMillion: '1' }, undefined],
    ['/prices/0/outputPerMillion', { model: 'a/b', inputPerMillion: 1 }, undefined],
    ['/prices/0/model', { ...price, model: 'gpt-5' }, expect.stringContaining('provider/model')],
  ])('%s is refused where it would make a limit on costs ineffective', async (pointer, wrong, hint) => {
    const prices = [wrong] as unknown as [typeof price]
    const refused = { code: 'option/invalid', at: { pointer }, ...(hint !== undefined && { hint }) }
    await expect(createApp({ env: {}, prices })).rejects.toMatchObject(refused)
    const generating = { providers: [], model: 'a/b', objective: 'x', schema: true, prices } as const
    await expect(generateValue(generating)).rejects.toMatchObject(refused)
  })

  it('tokens are estimated by script where they are not counted', () => {
    expect(roughTokens('abcd')).toBe(1)
    expect(roughTokens('烏龍茶')).toBe(3)
    expect(mostTokens('烏龍茶 ☕')).toBe(13)
  })

  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'Retry-After': '0.5' }, 500],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 59_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '999999' }, 3_600_000],
    [{}, undefined],
  ])('%j means %s ms', (headers, ms) => {
    expect(retryAfterMs(headers as Record<string, string>, 1000)).toBe(ms)
  })
})
