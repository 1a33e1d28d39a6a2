/** Unknown secrets are detected by their context; ordinary words are not changed. */
import { expect, it } from 'vitest'
import { createRedactor, isKeyLike, redacted, secretsIn } from './redact.ts'

const { text, value } = createRedactor()

it.each([
  ['postgres://ann:pa$$w0rd@db:5432/x', `postgres://ann:${redacted}@db:5432/x`],
  ['see http://:pw@h/ and ftp://u:p%40q@h', `see http://:${redacted}@h/ and ftp://u:${redacted}@h`],
  ['https://h/v1?api_key=abc&page=2#x', `https://h/v1?api_key=${redacted}&page=2#x`],
  ['https://h/?page=2&access_token=abc', `https://h/?page=2&access_token=${redacted}`],
  ['Authorization: Bearer eyJhbGciOi1.abc_DEF-9', `Authorization: Bearer ${redacted}`],
])('%s', (given, wanted) => {
  expect(text(given)).toBe(wanted)
})

it.each([
  'The bearer understandingly waits; a bearer cryptocurrency',
  'https://h:8080/path?page=2&maxTokens',
  'Write to ann@example.org: 3:4 at http://h/a:b@c',
  'token economics',
])('leaves alone: %s', (given) => {
  expect(text(given)).toBe(given)
})

it('headers and their spellings are keys that name secrets', () => {
  for (const key of ['x-api-key', 'X-Api-Key', 'access_key', 'private-key', 'passwd', 'set-cookie'])
    expect(value({ [key]: 'x' })).toEqual({ [key]: redacted })
})

it('looking for shapes takes time in proportion to the text, however it is built', () => {
  for (const part of ['://a:', '?a', 'bearer ', '?token', 'bearer a', '&token=', ':', '://']) {
    const start = performance.now()
    text(part.repeat(200_000))
    expect(performance.now() - start, part).toBeLessThan(2_000)
  }
})

it('secrets in settings are found by their keys, with and without the word before them', () => {
  const settings = {
    url: 'https://h',
    headers: { authorization: 'Bearer abc-123', accept: '*/*' },
    list: [{ clientSecret: { id: 7, parts: ['xyz-987'] } }],
    maxTokens: 500,
  }
  expect(secretsIn(settings)).toEqual(['Bearer abc-123', 'abc-123', '7', 'xyz-987'])
  expect(['abc-1234', 'environment', 'Bearer abc-123', 'a1'].filter(isKeyLike)).toEqual(['abc-1234'])
})
