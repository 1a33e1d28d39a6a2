/** Lists without brackets, one line for each item, with the labels of many scripts. */
import type { Json } from '../../../base/json.ts'
import type { Random } from '../random.ts'
import { array, oneOfWords, text, whole } from '../schemas/build.ts'
import type { NoiseFamily, Passage } from '../types.ts'
import { list, name, plain } from '../words.ts'

/** What is written before an item, by its index from 0. */
type Label = (index: number) => string

/** Digits in another script: the numbers begin with its zero. */
const inDigits = (zero: number, index: number): string =>
  [...String(index + 1)].map((digit) => String.fromCodePoint(zero + Number(digit))).join('')

/** The letters of an alphabet in its order. */
const letters = (alphabet: string): ((index: number) => string) => {
  const all = [...alphabet]
  return (index) => all[index] as string
}

const ROMAN = ['i', 'ii', 'iii', 'iv', 'v', 'vi']
const LATIN = letters('abcdef')
const CYRILLIC = letters('абвгде')

const LABELS: Readonly<Record<string, Label>> = {
  dash: () => '- ',
  star: () => '* ',
  plus: () => '+ ',
  bullet: () => '• ',
  'long-dash': () => '— ',
  'middle-dot': () => '・',
  'list-point': (i) => `${i + 1}. `,
  'list-bracket': (i) => `${i + 1}) `,
  'list-brackets': (i) => `(${i + 1}) `,
  'from-zero': (i) => `${i}. `,
  circled: (i) => `${String.fromCodePoint(0x2460 + i)} `,
  keycap: (i) => `${i + 1}\ufe0f\u20e3 `,
  'full-width': (i) => `${inDigits(0xff10, i)}．`,
  'arabic-digits': (i) => `${inDigits(0x660, i)}. `,
  'persian-digits': (i) => `${inDigits(0x6f0, i)}) `,
  'devanagari-digits': (i) => `${inDigits(0x966, i)}. `,
  'bengali-digits': (i) => `${inDigits(0x9e6, i)}. `,
  'thai-digits': (i) => `${inDigits(0xe50, i)}. `,
  chinese: (i) => `${'一二三四五六'[i]}、`,
  'chinese-brackets': (i) => `（${'一二三四五六'[i]}）`,
  'latin-letters': (i) => `${LATIN(i)}) `,
  'latin-capitals': (i) => `${LATIN(i).toUpperCase()}. `,
  'cyrillic-letters': (i) => `${CYRILLIC(i)}) `,
  roman: (i) => `${ROMAN[i]}. `,
  emoji: () => '✅ ',
}

const BEFORE = [
  '',
  'Here they are:\n\n',
  'Hier ist die Liste:\n',
  '以下是结果：\n',
  'القائمة:\n',
  'ये रहे:\n\n',
  'Вот список:\n',
]
/** Behind an empty line; text that follows directly could belong to the last item. */
const BEHIND = ['', '', '\n', '\n\nLet me know if you need more.', '\n\n希望对你有帮助！']
/** Texts without a list, and without a word that could be the only item. */
const WITHOUT = [
  'I could not find anything in the text, sorry.',
  'Dazu steht nichts im Text.',
  'Which of them do you mean? Please say more.',
  '文中没有提到。',
]

const WORDS = ['apple', 'pear', 'größe', 'яблоко', '東京', 'تقرير', 'नमूना', '사과', 'ส้ม']
const COLOURS = ['red', 'green', 'blue', 'yellow', 'black', 'white']

interface Source {
  readonly name: string
  readonly schema: ReturnType<typeof array>
  make(random: Random): Json
}

/** Items without quotes, bullets and marks at their ends: those would be ambiguous in a line. */
const SOURCES: readonly Source[] = [
  { name: 'phrases', schema: array(text), make: (r) => list(r, [2, 6], () => plain(r)) },
  { name: 'names', schema: array(text), make: (r) => list(r, [2, 6], () => name(r)) },
  { name: 'words', schema: array(text, { minItems: 1 }), make: (r) => list(r, [2, 6], () => r.pick(WORDS)) },
  { name: 'numbers', schema: array(whole), make: (r) => list(r, [2, 6], () => r.int(10, 9000)) },
  { name: 'listed', schema: array(oneOfWords(...COLOURS)), make: (r) => r.some(COLOURS, r.int(2, 5)) },
]

export const LISTS: NoiseFamily = {
  name: 'lists in lines, in every script',
  make(random): Passage | undefined {
    const source = random.pick(SOURCES)
    const { name: schemaName, schema } = source
    const decoy = source.make(random)
    const shared = { schemaName, schema, decoy, single: false, encoded: 0 }
    if (random.chance(0.12))
      return { ...shared, value: undefined, text: random.pick(WITHOUT), kinds: ['no-list'] }
    const value = source.make(random) as Json[]
    const kind = random.pick(Object.keys(LABELS))
    // `１．1208` could be a number with decimals.
    if (kind === 'full-width' && schemaName === 'numbers') return undefined
    const label = LABELS[kind] as Label
    const indent = random.pick(['', '', '  '])
    const seam = random.pick(['\n', '\n', '\n\n', '\r\n'])
    const lines = value.map((item, index) => `${indent}${label(index)}${item}`)
    return {
      ...shared,
      value,
      text: random.pick(BEFORE) + lines.join(seam) + random.pick(BEHIND),
      kinds: [kind],
    }
  },
}
