/** Contents of strings: plain texts, and texts that are hard for a reader of model text. */
import type { Random } from './random.ts'

const NAMES = [
  'Ann Lee',
  'José Álvarez',
  'Zoë Müller',
  'Łukasz Żak',
  '王小明',
  '田中花子',
  'محمد علي',
  'प्रिया शर्मा',
  'Olga Петрова',
  "Sinéad O'Connor",
  'Björn Åkesson',
  '김민준',
] as const

const PLAIN = [
  'hello world',
  'Deliver to the back door',
  'Patient feels better today',
  'The parser is slow on long lists',
  'Nettoyer les filtres avant vendredi',
  'Bitte morgen noch einmal anrufen',
  'quarterly report',
  'blue cotton shirt',
  'second floor meeting room',
  'ready for review',
] as const

/** Each of these has caused an error in a reader of model text. */
const TRICKY = [
  'https://example.com/docs/v2/index.html',
  'She said "no", then left',
  'The "final" version is here',
  'Set "mode" to fast and "level" to high',
  'Note: "urgent": call back, please',
  'None here, and True is just a word',
  'visit https://example.com/a?b=1&c=[2]#top // not a comment',
  '# not a heading, and /* not a comment */ either',
  'braces {like this} and [brackets], too',
  'an open { and an open [ that never close',
  'line one\nline two\n\tline three',
  'regex ^\\d{3}-\\w+$ and path C:\\Users\\Zed',
  'LaTeX \\alpha + \\sqrt{x}',
  '```js\nconst a = { b: [1, 2] }\n```',
  'run `npm test` before you push',
  "it's the user's own choice, isn't it?",
  'emoji 🎉🚀 and 👩‍👩‍👧 family',
  '日本語のテキスト、「引用」付き。',
  '价格：一百元，质量很好。',
  'مرحبا، كيف حالك؟',
  'नमस्ते दुनिया, कैसे हो?',
  'Crème brûlée à 5 €, s’il vous plaît',
  '“curly quotes” and ‘single ones’ inside',
  'key: value, other: thing',
  'if (a && b) { return c["d"]; }',
  '<b>bold</b> & <i>italic</i>',
  'Use <think> tags sparingly',
  'ends with a comma,',
  'ends with a colon:',
  '100% sure; 50/50 otherwise...',
  '- [ ] todo item\n- [x] done item',
  'null and undefined are words here',
  'a, b, and c',
  'trailing backslash \\',
  '{"looks": "like json"}',
  "SELECT * FROM t WHERE a = 'b' -- c",
] as const

/** Returns a free text, plain in about half of the cases. */
export function prose(random: Random): string {
  if (random.chance(0.45)) return random.pick(PLAIN)
  if (random.chance(0.2)) return `${random.pick(TRICKY)} ${random.pick(PLAIN)}`
  return random.pick(TRICKY)
}

/** Returns only words: letters and spaces of one language. */
export function plain(random: Random): string {
  return random.pick(PLAIN)
}

export function name(random: Random): string {
  return random.pick(NAMES)
}

export function word(random: Random): string {
  return random.pick([
    'red',
    'green',
    'urgent',
    'draft',
    'naïve',
    'größe',
    '東京',
    'تقرير',
    'नमूना',
    'beta',
    'ops',
  ])
}

export function email(random: Random): string {
  return `${random.pick(['ann', 'jose', 'zoe', 'priya', 'min'])}${random.int(1, 99)}@example.${random.pick(['com', 'org'])}`
}

export function date(random: Random): string {
  return `20${random.int(10, 29)}-0${random.int(1, 9)}-${random.int(10, 28)}`
}

export function identifier(random: Random): string {
  return `${random.pick(['ord', 'usr', 'inv', 'tkt'])}-${random.int(1000, 9999)}`
}

/** Returns a price with two decimals that is printed without loss. */
export function money(random: Random, max = 5000): number {
  return random.int(100, max * 100) / 100
}

export function list<T>(random: Random, [min, max]: readonly [number, number], make: () => T): T[] {
  return Array.from({ length: random.int(min, max) }, make)
}
