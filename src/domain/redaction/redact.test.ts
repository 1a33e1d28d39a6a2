/** Nothing secret leaves: by the name of the key, and by the secret itself anywhere in a text. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor, isKeyLike, redacted, secretsIn } from './redact.ts'
import { redactResult } from './redact-result.ts'

const plain = createRedactor()

describe('keys that name secrets', () => {
  const names =
    'token accessToken refresh_token secret clientSecret apiKey APIKEY api_key x_api_key Authorization'
  const more = 'password dbPassword bearer credential credentials pwd db_pwd cookie sessionCookie Cookies'
  const others = 'signingKey encryption-key dsn DSN sentryDsn SENTRY_DSN kennwort Passwort'

  it.each(`${names} ${more} ${others}`.split(' '))('lose their value: %s', (key) => {
    for (const value of ['x', 7, ['x'], { deep: 'x' }]) {
      expect(plain.value({ [key]: value })).toEqual({ [key]: redacted })
    }
  })

  it('keep flags, nothing, and counts of tokens', () => {
    const value = {
      no_credential_access: true,
      token: null,
      maxTokens: 5,
      input_tokens: 7,
      usage: { outputTokens: 1 },
    }
    expect(plain.value(value)).toEqual(value)
    expect(plain.value({ maxTokens: 'x', pinPassword: 1234 })).toEqual({
      maxTokens: redacted,
      pinPassword: redacted,
    })
  })

  it('are not found in other words', () => {
    const value = { fieldsN: 1, cookieBanner: 'x', pin: 2, key: 'x', signing: 'x', oddsnumber: 3 }
    expect(plain.value(value)).toEqual(value)
  })

  it('are found at any depth, in lists too', () => {
    expect(plain.value({ a: [{ b: { secret: 'x', c: 1 } }] })).toEqual({
      a: [{ b: { secret: redacted, c: 1 } }],
    })
  })
})

describe('secrets that are known', () => {
  const key = 'sk-live-"a+b"/42'
  const { value, text } = createRedactor({ secrets: [key, 'sk-live', 'abc', '      '] })

  it('are taken out of every text, in JSON and URLs too', () => {
    expect(text(`Use ${key}, not ${key}.`)).toBe(`Use ${redacted}, not ${redacted}.`)
    expect(text(JSON.stringify({ note: key }))).toBe(`{"note":"${redacted}"}`)
    expect(text(`https://x/?k=${encodeURIComponent(key)}&y=1`)).toBe(`https://x/?k=${redacted}&y=1`)
  })

  it('are taken out of values and keys', () => {
    expect(value({ note: [`is ${key}`], [key]: 1 })).toEqual({ note: [`is ${redacted}`], [redacted]: 1 })
  })

  it('are taken out whole where one contains another, and too short ones are left', () => {
    expect(text(`${key} sk-live abc`)).toBe(`${redacted} ${redacted} abc`)
  })

  it('never survive in any surrounding text', () => {
    const secret = 'canary-7f3a$^.*'
    const redactor = createRedactor({ secrets: [secret] })
    const planted = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string().map((around) => around + secret + around),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          fc.string().map((name) => name + secret),
          tie('value'),
          { maxKeys: 4 },
        ),
      ),
    })).value
    fc.assert(
      fc.property(planted, (given) => {
        expect(JSON.stringify(redactor.value(given))).not.toContain('canary')
      }),
    )
  })
})

describe('data that is kept', () => {
  const { known, with: knowing } = createRedactor({ secrets: ['canary-1234'] })

  it('loses known secrets, in keys too, and nothing else', () => {
    const given = { password: 'mine', url: 'http://u:p@h', list: ['is canary-1234', 7], 'canary-1234': null }
    expect(known(given)).toEqual({
      password: 'mine',
      url: 'http://u:p@h',
      list: [`is ${redacted}`, 7],
      [redacted]: null,
    })
  })

  it('is the same object when there is nothing to lose', () => {
    const given = { a: [{ b: 'c' }], when: new Date(0) }
    expect(known(given)).toBe(given)
    expect(plain.known(given)).toBe(given)
    const half = { dirty: 'canary-1234', clean: given }
    expect(known(half).clean).toBe(given)
  })

  it('can learn more secrets for a while', () => {
    expect(knowing([])).toBe(knowing([]))
    expect(knowing(['other-secret']).text('canary-1234 other-secret')).toBe(`${redacted} ${redacted}`)
    expect(known('other-secret')).toBe('other-secret')
  })

  it('may be very many', () => {
    const many = Array.from({ length: 50_000 }, (_, n) => `user-token-${n}-${'x'.repeat(n % 40)}`)
    const { text } = knowing(many)
    expect(text(`${many[7]} ${many[49_999]}, tea: ${many[31]}x`)).toBe(
      `${redacted} ${redacted}, tea: ${redacted}x`,
    )
    expect(text('user-token-x')).toBe('user-token-x')
    const few = createRedactor({ secrets: many.slice(0, 60) })
    const lots = createRedactor({ secrets: many.slice(0, 80) })
    for (const given of many.slice(0, 60)) expect(lots.text(`<${given}>`)).toBe(few.text(`<${given}>`))
  })

  it('never keeps one by going deep', () => {
    let deep: unknown = 'canary-1234'
    for (let i = 0; i < 50_000; i++) deep = [deep]
    let clean = known(deep)
    while (Array.isArray(clean)) clean = clean[0]
    expect(clean).toBe(redacted)
  })
})

describe('a redacted copy', () => {
  it('has the shape of the original, which is not touched', () => {
    const clean = fc.jsonValue()
    fc.assert(
      fc.property(clean, (given) => {
        const before = JSON.stringify(given)
        if (/token|secret|key|authorization|passw|passphrase|bearer|credential|:\/\/|cookie|=/i.test(before))
          return
        expect(JSON.stringify(plain.value(given))).toBe(before)
        expect(JSON.stringify(given)).toBe(before)
      }),
    )
    const given = { secret: 'x', list: [{ token: 'y' }] }
    plain.value(given)
    expect(given).toEqual({ secret: 'x', list: [{ token: 'y' }] })
  })

  it('shares what has nothing to lose, and copies the rest', () => {
    const clean = { a: [{ b: 'c' }, 7, null], at: undefined }
    expect(plain.value(clean)).toBe(clean)
    const given = { clean, note: 'see http://u:p@h', list: [clean, { secret: 'x' }] }
    const copy = plain.value(given) as typeof given
    expect(copy).toEqual({ clean, note: `see http://u:${redacted}@h`, list: [clean, { secret: redacted }] })
    expect([copy.clean, copy.list[0]]).toEqual([clean, clean])
    expect(copy.clean).toBe(clean)
    expect(given.note).toBe('see http://u:p@h')
  })

  it('copies what would write its own text', () => {
    const url = new URL('http://u:p@h')
    expect(JSON.stringify(plain.value({ url }))).toBe('{"url":{}}')
    const list = Object.assign([1], { toJSON: () => 'secret text' })
    expect(JSON.stringify(plain.value({ list }))).toBe('{"list":[1]}')
    class Note {
      readonly text = 'x'
      toJSON(): string {
        return 'secret text'
      }
    }
    expect(JSON.stringify(plain.value([new Note()]))).toBe('[{"text":"x"}]')
  })

  it('treats __proto__ as an ordinary key', () => {
    const copy = plain.value(JSON.parse('{"__proto__": {"polluted": 1, "token": "x"}}'))
    expect(JSON.stringify(copy)).toBe(`{"__proto__":{"polluted":1,"token":"${redacted}"}}`)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('ends: deep and circular values are cut', () => {
    const loop: Record<string, unknown> = { a: 1 }
    loop['self'] = loop
    expect(JSON.stringify(plain.value(loop))).toContain(redacted)
    let deep: unknown = 'end'
    for (let i = 0; i < 50_000; i++) deep = [deep]
    expect(JSON.stringify(plain.value(deep))).toContain(redacted)
  })

  it('costs what the text is long', () => {
    const { text } = createRedactor({
      secrets: Array.from({ length: 20 }, (_, i) => `secret-${i}-${'a'.repeat(30)}`),
    })
    const millis = (length: number) => {
      const given = 'secret-1-a'.repeat(length / 10)
      const start = performance.now()
      text(given)
      return performance.now() - start
    }
    millis(100_000)
    expect(millis(4_000_000)).toBeLessThan(5_000)
  })
})

describe('unknown secrets, detected by their context', () => {
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
})

describe('a value that is still being written', () => {
  const secrets = ['plain-secret-value', 'correct horse battery staple', '秘密 の 鍵です']
  const redactor = createRedactor({ secrets })
  const said = `Use plain-secret-value, or correct horse battery staple; 秘密 の 鍵です or sk-ant-abc123def456ghi789 as the password: hunter2hunter2 at https://ann:pa55word@host now`

  it('shows no beginning of a secret, wherever it is cut, and all of a finished text', () => {
    let longest = ''
    for (let end = 0; end <= said.length; end++) {
      const shown = redactor.partial({ line: said.slice(0, end) }, new Set()) as { line: string }
      expect(shown.line).not.toMatch(/plain|correct|horse|battery|staple|秘|密|鍵|sk-|hunter|pa5/)
      if (shown.line.length > longest.length) longest = shown.line
    }
    expect(longest).toContain('or [redacted]; [redacted] or [redacted] as the password: [redacted] at ')
    expect(redactor.partial({ line: 'Tea is warm' }, new Set())).toEqual({ line: 'Tea is ' })
    expect(redactor.partial({ line: 'Tea is warm' }, new Set(['/line']))).toEqual({ line: 'Tea is warm' })
    expect(redactor.partial(['a b', 'c d', 1], new Set(['/0']))).toEqual(['a b', 'c ', 1])
    expect(redactor.partial('お茶は温かい', new Set())).toBe('お茶は温かい')
  })
})

describe('evidence in the journal', () => {
  const secret = 'planted-secret-0001'
  const redactor = createRedactor({ secrets: [secret] })
  const keep = (raw: string) =>
    redactResult({ outcome: 'invalid', raw, issues: [], usage: { calls: 1 } }, { redactor, cut: true }).raw ??
    ''

  it('of a long text is its beginning and its end', () => {
    const kept = keep(`begin${'x'.repeat(1_000_000)}end`)
    expect(kept.length).toBeLessThan(70_000)
    expect(kept).toMatch(/^beginx+\n\[… 934472 characters left out …\]\nx+end$/)
    expect(keep('x'.repeat(80_000))).toHaveLength(80_000)
  })

  it('has no part of a secret, wherever the text is cut', () => {
    const rest = (text: string) => keep(text).replace(/\[… \d+ characters left out …\]|\[redacted\]/g, '')
    for (const gap of [1, 1_021]) {
      const filled = `${secret}${'x'.repeat(gap)}`.repeat(200_000 / (secret.length + gap))
      for (let shift = 0; shift < secret.length + gap; shift += gap > 1 ? 47 : 1)
        expect(rest('x'.repeat(shift) + filled)).toMatch(/^[^pln0-9s-]*$/)
    }
  })

  it('quotes the beginning of a value, of the same type', () => {
    const quoteOf = (actual: unknown) => {
      const issue = { code: 'schema/type', at: { pointer: '' }, message: 'Wrong', actual } as const
      const result = { outcome: 'invalid', issues: [issue], usage: { calls: 1 } } as const
      return redactResult(result, { redactor, cut: true }).issues[0]?.actual
    }
    const large = Array.from({ length: 50 }, () => ({ a: 'x'.repeat(20_000) }))
    const quoted = quoteOf(large)
    expect(Array.isArray(quoted)).toBe(true)
    expect(JSON.stringify(quoted).length).toBeLessThan(5_000)
    expect(quoteOf('x'.repeat(20_000))).toMatch(/^x{4095}…$/)
    for (const small of [7, null, false, 'x', { a: [1, { b: 'c' }] }]) expect(quoteOf(small)).toEqual(small)
  })
})
