/** Keys of well-known services are found inside of free text; ordinary texts are left alone; time is linear. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createRedactor, redacted } from './redact.ts'
import { findSecretShapes, replaceSecretShapes } from './secret-shapes.ts'

/** Random-looking text that is the same in every run. */
function noise(seed: string, length: number, alphabet: 'hex' | 'base64' | 'base64url' = 'hex'): string {
  let text = ''
  for (let n = 0; text.length < length; n++)
    text += createHash('sha512').update(`${seed} ${n}`).digest(alphabet).replace(/=+$/, '')
  return text.slice(0, length)
}

/** Letters and digits only. */
const alnum = (seed: string, length: number) =>
  noise(seed, length * 2, 'base64')
    .replace(/[+/]/g, '')
    .slice(0, length)
const upper = (seed: string, length: number) => alnum(seed, length).toUpperCase()

/** Assembled here, so that scanners of repositories do not find keys in this file. */
const keys: { readonly [service: string]: string } = {
  openai: `sk-${alnum('a', 48)}`,
  'openai project': `sk-proj-${noise('b', 64, 'base64url')}7a`,
  anthropic: `sk-ant-api03-${noise('c', 93, 'base64url')}AA`,
  openrouter: `sk-or-v1-${noise('d', 64)}`,
  'stripe secret': `sk_live_${alnum('e', 24)}1a`,
  'stripe restricted': `rk_live_${alnum('f', 24)}1a`,
  'stripe webhook': `whsec_${alnum('g', 32)}`,
  'aws access key': `AKIA${upper('h', 16)}`,
  'aws session key': `ASIA${upper('i', 16)}`,
  'github classic': `ghp_${alnum('j', 35)}7`,
  'github app': `ghs_${alnum('k', 35)}7`,
  'github fine-grained': `github_pat_${alnum('l', 22)}_${alnum('m', 59)}`,
  gitlab: `glpat-${alnum('n', 20)}`,
  'slack bot': `xoxb-123456789012-1234567890123-${alnum('o', 24)}`,
  'slack app': `xapp-1-A0123456789-1234567890123-${noise('p', 64)}`,
  'google api': `AIza${noise('q', 35, 'base64url')}`,
  'google oauth': `ya29.${noise('r', 60, 'base64url')}`,
  'google client': `GOCSPX-${noise('s', 28, 'base64url')}`,
  'hugging face': `hf_${alnum('t', 34)}`,
  npm: `npm_${alnum('u', 36)}`,
  sendgrid: `SG.${noise('v', 22, 'base64url')}.${noise('w', 43, 'base64url')}`,
  digitalocean: `dop_v1_${noise('x', 64)}`,
  shopify: `shpat_${noise('y', 32)}`,
  vault: `hvs.${alnum('z', 90)}`,
  groq: `gsk_${alnum('1', 50)}2b`,
  replicate: `r8_${alnum('2', 37)}`,
  'token of a caller': `pvs_${noise('3', 43, 'base64url')}`,
  'signing key of an agent': `psk_${noise('4', 43, 'base64url')}`,
  'json web token': `eyJ${noise('5', 33, 'base64url')}.eyJ${noise('6', 80, 'base64url')}.${noise('7', 43, 'base64url')}`,
  'sealed in the journal': `[sealed:v1.${noise('8', 8)}.${noise('9', 60, 'base64url')}]`,
}

const { text, value } = createRedactor()

describe('keys inside of free text', () => {
  it.each(Object.entries(keys))('%s', (_, key) => {
    expect(text(key)).toBe(redacted)
    expect(text(`Use ${key}, please.`)).toBe(`Use ${redacted}, please.`)
    expect(text(`(${key})`)).toBe(`(${redacted})`)
    expect(text(`first line\\n${key}`), 'in a text with escapes').toBe(`first line\\n${redacted}`)
    expect(text(`q=a%20${key}`), 'in a URL').toBe(`q=a%20${redacted}`)
    expect(text(JSON.stringify({ note: `line\n${key}\n` }))).not.toContain(key)
    expect(value({ notes: [{ said: `is ${key}` }] })).toEqual({ notes: [{ said: `is ${redacted}` }] })
    expect(text(`${key} ${key}`)).toBe(`${redacted} ${redacted}`)
  })

  it('private keys, with and without their end', () => {
    const body = noise('pem', 300, 'base64').replace(/(.{64})/g, '$1\n')
    for (const kind of ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ']) {
      const [head, foot] = [`-----BEGIN ${kind}PRIVATE KEY-----`, `-----END ${kind}PRIVATE KEY-----`]
      expect(text(`see ${head}\n${body}\n${foot} here`)).toBe(`see ${head}${redacted}${foot} here`)
      expect(text(`${head}\n${body}`)).toBe(`${head}${redacted}`)
    }
    const head = '-----BEGIN RSA PRIVATE KEY-----'
    const headers = 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0F'
    expect(text(`${head}\n${headers}\n\n${body}`)).toBe(`${head}${redacted}`)
    const sealed = `[sealed:v1.0a1b2c3d.${noise('sealed', 40, 'hex')}-_--FFzgZ-pbl]`
    expect(text(`${head}\n${sealed}\n-----END`), 'a sealed key is replaced whole').toBe(
      `${head}${redacted}-----END`,
    )
    const certificate = `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`
    expect(text(certificate)).toBe(certificate)
  })

  it.each([
    ['password=hunter2-and-more', `password=${redacted}`],
    ['{"password": "correct-horse-9"}', `{"password": "${redacted}"}`],
    ['{\\"apiKey\\":\\"abcd1234efgh\\"}', `{\\"apiKey\\":\\"${redacted}\\"}`],
    [
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      `aws_secret_access_key = ${redacted}`,
    ],
    ['export OPENAI_API_KEY=abc123def456', `export OPENAI_API_KEY=${redacted}`],
    ['Authorization: Basic dXNlcjpwYXNzd29yZDE=', `Authorization: Basic ${redacted}`],
    ['Server=db;Uid=app;Pwd=hunter22;', `Server=db;Uid=app;Pwd=${redacted};`],
    ['signing_key=abcd1234efgh', `signing_key=${redacted}`],
    ['client_secret: "a1b2c3d4e5"', `client_secret: "${redacted}"`],
    [
      'https://hooks.slack.com/services/T00000000/B00000000/XXXX1234',
      `https://hooks.slack.com/services/${redacted}`,
    ],
  ])('a value after the name of a secret: %s', (given, wanted) => {
    expect(text(given)).toBe(wanted)
    expect(text(wanted), 'redacted again').toBe(wanted)
  })
})

describe('ordinary texts', () => {
  const uuids = Array.from({ length: 200 }, (_, n) =>
    noise(`uuid ${n}`, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  )
  const corpus: { readonly [name: string]: string } = {
    uuids: uuids.join(' '),
    'hex of any length': Array.from({ length: 300 }, (_, n) => noise(`hex ${n}`, 8 + n)).join(' '),
    'git hashes': Array.from({ length: 100 }, (_, n) => `commit ${noise(`sha ${n}`, 40)}`).join('\n'),
    'sha256 sums': Array.from(
      { length: 50 },
      (_, n) => `sha256:${noise(`sum ${n}`, 64)}  file-${n}.tar.gz`,
    ).join('\n'),
    'integrity hashes': `sha512-${noise('sri', 86, 'base64')}==`,
    '2 MB of base64': noise('base64', 2_000_000, 'base64'),
    '2 MB of base64url': noise('base64url', 2_000_000, 'base64url'),
    'a picture': `data:image/png;base64,${noise('png', 5_000, 'base64')}`,
    'names of classes':
      'sk-fading-circle sk-circle12 sk-cube-grid-with-a-very-long-name task-1234567890abcdef',
    'names of packages':
      'sk-learn-contrib-imbalanced-ensemble risk-management-plan-2024 disk-usage-report-q3-2025',
    'snake case':
      'npm_config_registry npm_package_version hf_hub_download sk_test gsk_value ghp_is_a_prefix whsec_x',
    prose:
      'The token is a unit of text. Password: at least 8 characters. The secret: practice. Bearer of good news.',
    'prose about tokens':
      'max tokens: 4096, token count = 12, tokenizer: o200k_base1, secrets are kept; key: value12345',
    urls: 'https://example.org:8080/a/b?page=2&sort=name&cursor=abc123def456#top http://h/a:b@c user@example.org',
    times: '2026-11-17T10:00:00.000Z 10:00:00 12:34:56.789 1700000000000',
    dates:
      'AKIAN is a village, ASIAN markets, AIzawl is a city, SG. is short for Singapore, eyJafjallajokull',
    code: "const key = row.key; if (a?.b === c) return x => y; a['k'] = b[1]; token = next(); password = readPassword()",
    yaml: 'name: write\nkind: model\ntimeout: 30s\nretries: 2\nsecretName: my-secret\ntokenSource: environment\n',
    markdown: '-----\nBEGIN\n-----\n| a | b |\n|---|---|\n',
    unicode: 'żółć 日本語 🙂 ключ: значение1234 пароль=секрет99',
  }

  it.each(Object.entries(corpus))('are left alone: %s', (_, given) => {
    expect(text(given)).toBe(given)
    expect(findSecretShapes(given)).toBeUndefined()
  })
})

describe('replacing', () => {
  it('gives the secret alone, so that it can be put back', () => {
    const given = `a postgres://ann:pa55word@db/x b Bearer ${keys['npm']} c password="abcd 1234efgh" ${keys['aws access key']}`
    const found: string[] = []
    const changed = replaceSecretShapes(given, (secret) => `<${found.push(secret) - 1}>`)
    expect(found).toEqual(['pa55word', keys['npm'], keys['aws access key']])
    expect(changed.replace(/<(\d)>/g, (_, n: string) => found[Number(n)] ?? '')).toBe(given)
  })

  it('takes time in proportion to the text, however it is built', () => {
    const parts = ['sk-', 'sk-a', 'sk-or-', 'eyJ', '-eyJ-', 'eyJaaaaaaaaa.', 'token=', 'token=a', 'xoxb-a1']
    const more = [
      '-----BEGIN PRIVATE KEY-----',
      '[sealed:v1.00000000.',
      'AKIA',
      '=',
      ':',
      'password: ',
      'SG.a1-',
    ]
    for (const part of [...parts, ...more]) {
      const start = performance.now()
      replaceSecretShapes(part.repeat(1_000_000 / part.length), () => redacted)
      // Quadratic time would take minutes.
      expect(performance.now() - start, part).toBeLessThan(5_000)
    }
  })
})
