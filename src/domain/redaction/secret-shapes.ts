/**
 * Finds secrets inside of texts by their shape: keys of well-known services, tokens, private keys, passwords in URLs, and
 * values after the name of a secret. One scan over the characters looks for the ends of the prefixes; a prefix that is
 * found is read on by the expression of its shape. Time is linear in the length of the text, because texts of models and
 * agents are scanned. Ordinary hex, UUIDs and base64 do not match: each key has a prefix of its own that begins a word.
 */
import { isSecretMember } from './secret-keys.ts'

/** Start and end of a secret in a text. */
type SecretRange = readonly [start: number, end: number]

interface Shape {
  /** Texts that the shape begins with, of at least two characters. Rare last characters make the scan fast. */
  readonly prefixes: readonly string[]
  /** Reads the shape from its beginning (sticky). Its group, or else the whole match, is the secret. */
  readonly pattern: RegExp
  /** Whether the shape may begin inside of a word. Default false. */
  readonly isAnywhere?: true
  /** Rejects what has the shape and is not a secret. */
  readonly isSecret?: (secret: string) => boolean
}

/** Has both letters and digits; words and counts have only one of them. */
function hasBoth(text: string): boolean {
  return /\d/.test(text) && /[a-z]/i.test(text)
}

const namedKind = /^sk-(?:ant|proj|or|svcacct|admin|live|test|lf)-/

/** Has a random part. Words joined by hyphens have none (`sk-learn-pipeline-with-long-name`). */
function isServiceKey(key: string): boolean {
  if (namedKind.test(key)) return hasBoth(key.slice('sk-or-'.length))
  return key.split(/[-_]/).some((part) => part.length >= 12 && hasBoth(part))
}

/** Longest part that is read. Bounds keep the expressions from scanning the same text again and again. */
const longest = 100_000

const shapes: readonly Shape[] = [
  // A secret that the journal holds sealed
  { prefixes: ['[sealed:'], pattern: /\[sealed:v1\.[\da-f]{8}\.[\w-]{38,}\]/y, isAnywhere: true },
  // OpenAI, Anthropic, OpenRouter and others; after a hyphen, only keys with a named kind
  {
    prefixes: ['sk-'],
    pattern: /sk-(?:(?:ant|proj|or|svcacct|admin|live|test|lf)-|(?<!-sk-))[\w-]{12,300}/y,
    isSecret: isServiceKey,
  },
  // Stripe
  { prefixes: ['sk_', 'rk_'], pattern: /[sr]k_(?:live|test|prod)_\w{10,300}/y, isSecret: hasBoth },
  { prefixes: ['whsec_'], pattern: /whsec_[\w+/=]{20,300}/y },
  // AWS
  { prefixes: ['AKIA', 'ASIA', 'ABIA'], pattern: /A[KSB]IA[A-Z\d]{16}(?!\w)/y },
  // GitHub, GitLab
  {
    prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    pattern: /gh[opsru]_[A-Za-z\d]{20,300}/y,
    isSecret: hasBoth,
  },
  { prefixes: ['github_pat_'], pattern: /github_pat_\w{20,300}/y },
  { prefixes: ['glpat-', 'glptt-', 'gldt-', 'glrt-'], pattern: /gl[a-z]{2,3}-[\w-]{16,300}/y },
  // Slack
  {
    prefixes: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    pattern: /xox[a-z]-[\w-]{10,300}/y,
    isSecret: hasBoth,
  },
  { prefixes: ['xapp-'], pattern: /xapp-\d-[\w-]{10,300}/y },
  { prefixes: ['hooks.'], pattern: /hooks\.slack\.com\/services\/([\w/]{20,200})/y },
  // Google
  { prefixes: ['AIz'], pattern: /AIza[\w-]{35}(?![\w-])/y },
  { prefixes: ['ya29.'], pattern: /ya29\.[\w-]{20,2000}/y },
  { prefixes: ['GOCSPX-'], pattern: /GOCSPX-[\w-]{20,100}/y },
  // Hugging Face, npm, PyPI, SendGrid, DigitalOcean, Shopify, Vault, Groq, xAI, Replicate, age
  { prefixes: ['hf_'], pattern: /hf_[A-Za-z\d]{30,100}(?!\w)/y },
  { prefixes: ['npm_'], pattern: /npm_[A-Za-z\d]{36}(?!\w)/y },
  { prefixes: ['pypi-'], pattern: /pypi-AgE[\w-]{40,1000}/y },
  { prefixes: ['SG.'], pattern: /SG\.[\w-]{16,40}\.[\w-]{16,100}/y },
  { prefixes: ['dop_', 'doo_', 'dor_'], pattern: /do[opr]_v1_[\da-f]{64}/y },
  {
    prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    pattern: /shp[a-z]{2}_[\da-fA-F]{32}/y,
  },
  { prefixes: ['hvs.', 'hvb.'], pattern: /hv[bs]\.[\w-]{24,500}/y },
  { prefixes: ['gsk_'], pattern: /gsk_[A-Za-z\d]{20,200}/y, isSecret: hasBoth },
  { prefixes: ['xai-'], pattern: /xai-[A-Za-z\d]{40,200}/y },
  { prefixes: ['r8_'], pattern: /r8_[A-Za-z\d]{30,60}(?!\w)/y },
  { prefixes: ['AGE-SECRET-'], pattern: /AGE-SECRET-KEY-1[A-Z\d]{50,70}/y },
  // Tokens of callers and signing keys of agents
  { prefixes: ['pvs_', 'psk_'], pattern: /p(?:vs|sk)_[\w-]{43}(?![\w-])/y },
  // JSON web tokens: two parts that begin as JSON objects do, and a signature. Not after a hyphen: a part is read once.
  {
    prefixes: ['eyJ'],
    pattern: new RegExp(
      `eyJ(?<!-eyJ)[\\w-]{8,${longest}}\\.eyJ[\\w-]{8,${longest}}(?:\\.[\\w-]{0,${longest}})?`,
      'y',
    ),
  },
  // Private keys, up to the next dashes that do not belong to a header of theirs or to a sealed part
  {
    prefixes: ['-----B'],
    pattern:
      /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----((?:\[sealed:v1\.[\da-f]{8}\.[\w-]{38,}\]|Proc-Type|DEK-Info|AES-\d{3}-|DES-EDE3-|[^-]){1,100000})/y,
    isAnywhere: true,
  },
  // scheme://user:password@host
  {
    prefixes: ['://'],
    pattern: /:\/\/[^\s/:@"'<>]{0,1000}:([^\s/@"'<>]{1,1000})@/y,
    isAnywhere: true,
  },
  // Bearer and its token in a header; a word without a digit is not a token
  {
    prefixes: ['bear', 'Bear', 'BEAR'],
    pattern: new RegExp(
      `(?:bearer|Bearer|BEARER)(?:\\s|%20){1,4}(?=[^\\s\\d]{0,200}\\d)([\\w.~+/=-]{12,${longest}})`,
      'y',
    ),
  },
]

interface Candidate {
  readonly prefix: string
  readonly shape: Shape
}

/** Lists of prefixes with the same last two characters. */
const endings: Candidate[][] = [[]]
/** Index in `endings` by the last two characters (a flat table, which is read for one character in ten). */
const endingIndex = new Uint8Array(128 * 128)
/** Last characters of prefixes, and the signs between a name and its value. */
const isCandidate = new Uint8Array(128)

const [colon, equals] = [':'.charCodeAt(0), '='.charCodeAt(0)]
isCandidate[colon] = 1
isCandidate[equals] = 1

for (const shape of shapes)
  for (const prefix of shape.prefixes) {
    const last = prefix.charCodeAt(prefix.length - 1)
    const ending = prefix.charCodeAt(prefix.length - 2) * 128 + last
    if (endingIndex[ending] === 0) endingIndex[ending] = endings.push([]) - 1
    endings[endingIndex[ending] ?? 0]?.push({ prefix, shape })
    isCandidate[last] = 1
  }

/** No shape is shorter: `://:x@`. */
const shortest = 6

/** Returns the secrets of a text in order; `undefined` if it has none, as most texts do. */
export function findSecretShapes(text: string): SecretRange[] | undefined {
  const { length } = text
  if (length < shortest) return undefined
  let found: SecretRange[] | undefined
  for (let at = 1; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 128 || isCandidate[code] === 0) continue
    const range = readAt(text, at, code)
    // A shape can begin inside of the one before, such as a URL in a value.
    if (range === undefined || range[0] < (found?.at(-1)?.[1] ?? 0)) continue
    found ??= []
    found.push(range)
    at = range[1] - 1
  }
  return found
}

function readAt(text: string, at: number, code: number): SecretRange | undefined {
  const before = text.charCodeAt(at - 1)
  const index = before < 128 ? endingIndex[before * 128 + code] : 0
  if (index !== undefined && index !== 0)
    for (const { prefix, shape } of endings[index] ?? []) {
      const begin = at + 1 - prefix.length
      const range = begin >= 0 && text.startsWith(prefix, begin) ? readShape(text, begin, shape) : undefined
      if (range !== undefined) return range
    }
  return code === colon || code === equals ? readAssigned(text, at, code) : undefined
}

function readShape(text: string, begin: number, shape: Shape): SecretRange | undefined {
  const { pattern, isSecret, isAnywhere } = shape
  if (!isAnywhere && continuesWord(text, begin)) return undefined
  pattern.lastIndex = begin
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const [all, group] = parts
  const secret = group ?? all
  if (isSecret !== undefined && !isSecret(secret)) return undefined
  const start = begin + all.lastIndexOf(secret)
  return [start, start + secret.length]
}

/** A letter, digit or underscore, unless it ends an escape (`\n`, `%20`, `\u0022`), after which a word begins. */
const insideWord = /(?<!\\|%|%[\da-fA-F]|\\u[\da-fA-F]{3})\w$/

function continuesWord(text: string, at: number): boolean {
  if (at === 0) return false
  const code = text.charCodeAt(at - 1)
  return isNameCode(code) && insideWord.test(text.slice(Math.max(0, at - 7), at))
}

// name=value and name: value, also within JSON and URLs.

/** Names whose value is a secret in any text. A URL's query has secrets under more names, because its names are keys. */
const assignedName =
  /(?:passwor[dt]|passwd|pwd|kennwort|passphrase|secret|token|(?:api|access|private|signing|encryption)[-_]?key|authorization)$/i

const longestName = 100
const [quote, apostrophe, backslash, space] = [34, 39, 92, 32]

function readAssigned(text: string, at: number, sign: number): SecretRange | undefined {
  let end = at
  while (end > 0 && at - end < 3 && text.charCodeAt(end - 1) === space) end--
  if (isQuote(text.charCodeAt(end - 1))) end--
  if (text.charCodeAt(end - 1) === backslash) end--
  // The last letter rejects nearly all names without reading them.
  if (!isLastOfName(text.charCodeAt(end - 1))) return undefined
  let start = end
  while (start > 0 && end - start < longestName && isNameCode(text.charCodeAt(start - 1))) start--
  const name = text.slice(start, end)
  const before = text[start - 1]
  if (sign === equals && (before === '?' || before === '&')) return readQuery(text, at, name)
  return assignedName.test(name) ? readValue(text, at) : undefined
}

const queryValue = /=([^&\s"'#<>]{1,10000})/y

function readQuery(text: string, at: number, name: string): SecretRange | undefined {
  if (!isSecretMember(name, '')) return undefined
  queryValue.lastIndex = at
  const value = queryValue.exec(text)?.[1]
  if (value === undefined) return undefined
  return [at + 1, at + 1 + value.length]
}

const assignedValue =
  /[:=]\s{0,3}\\?["'`]?(?:(?:basic|bearer|token)\s{1,3})?([^\s"'`<>&,;\\{}()[\]]{8,256})/iy

/** A value that is not a word. A URL is read by its own shape, which leaves the rest of it readable. */
function readValue(text: string, at: number): SecretRange | undefined {
  assignedValue.lastIndex = at
  const [all = '', value = ''] = assignedValue.exec(text) ?? []
  if (!hasBoth(value) || /^[\w+.-]+:\/\//.test(value)) return undefined
  const end = at + all.length
  return [end - value.length, end]
}

function isQuote(code: number): boolean {
  return code === quote || code === apostrophe
}

/** Letters, digits, `_`, `-` and `.`. */
function isNameCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46
  )
}

/** Last letters of names of secrets. */
const lastLetters = new Uint8Array(128)
for (const letter of 'delnrstyDELNRSTY') lastLetters[letter.charCodeAt(0)] = 1

function isLastOfName(code: number): boolean {
  return code < 128 && lastLetters[code] === 1
}

/** Replaces every secret of a text; returns the given text if it has none. */
export function replaceSecretShapes(text: string, replace: (secret: string) => string): string {
  const found = findSecretShapes(text)
  if (found === undefined) return text
  let [clean, from] = ['', 0]
  for (const [start, end] of found) {
    clean += text.slice(from, start) + replace(text.slice(start, end))
    from = end
  }
  return clean + text.slice(from)
}
