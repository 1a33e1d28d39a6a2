/**
 * FSD-42: the whole way from the environment's keys to a value. With `PROVISO_LIVE=1` and a key it calls the real provider;
 * otherwise a server on loopback answers for it, because tests make no calls without permission.
 */
import { expect, it } from 'vitest'
import { generateValue, providersFromKeys } from '../../src/adapters/models/index.ts'
import { readEnv } from '../seams/base.ts'
import { openAiServer } from './openai-server.ts'

const live = process.env['PROVISO_LIVE'] === '1' ? readEnv() : {}

it('a key in the environment is enough to get a value under contract', async () => {
  const server = await openAiServer([{ text: '{"capital":"Paris","sure":true}' }])
  const env =
    live.openaiApiKey === undefined
      ? readEnv({ OPENAI_API_KEY: 'sk-of-the-stub', OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'gpt-5-mini' })
      : live
  const schema = {
    type: 'object',
    properties: { capital: { type: 'string' }, sure: { type: 'boolean' } },
    required: ['capital', 'sure'],
  } as const
  const done = await generateValue({
    providers: providersFromKeys(env),
    model: env.defaultModel ?? 'openai/gpt-5-mini',
    objective: 'What is the capital of France?',
    schema,
  })
  await server.close()
  expect(done).toMatchObject({ outcome: 'ok', output: { value: { capital: 'Paris', sure: true } } })
  expect(done.usage.calls).toBe(1)
  expect(server.seen).toHaveLength(live.openaiApiKey === undefined ? 1 : 0)
}, 60_000)
