/**
 * Reads lists that are written without brackets: one line for each item, with a bullet or a number of any script. And
 * decides which words are items: a sentence is not a list.
 */

import type { Region } from '../scan/region.ts'

/** Longer lines are prose. */
export const LONGEST = 1_000

/** Bullets; a dash or asterisk is one only before a space. */
export const BULLETS = '(?:[*+\\p{Pd}\u2212](?=\\s)|[•‣⁃·・∙→▷])'
/** What ends the number or letter of an item. A point in front of letters belongs to them: `3.x`. */
const NUMBERED = '(?:\\.(?=\\s|[^\\0-\\x7f\\p{Nd}])|[)）】、](?!\\p{Nd}+、)|．(?!\\p{Nd}))'
const ROMAN = 'i ii iii iv v vi vii viii ix x xi xii'.split(' ')

/**
 * Whether the labels are letters in the order of their alphabet, from its first: a single letter before a point is often
 * an initial. Some alphabets leave out every other code point, and the syllables of Hangul are far apart.
 */
function inOrder(labels: readonly string[]): boolean {
  return labels.length > 1 && labels.every(isNext)
}

function isNext(label: string, i: number, labels: readonly string[]): boolean {
  const before = labels[i - 1]
  if (before === undefined) return /[aаαアא가กकi]/i.test(label)
  const step = label.charCodeAt(0) - before.charCodeAt(0)
  return ROMAN[i] === label.toLowerCase() || (label.length === 1 && [1, 2, 588, 1176].includes(step))
}

interface Form {
  /** Indentation, label and item of a line. */
  readonly line: RegExp
  /** Whether these are the labels of a list. */
  readonly fits: (labels: readonly string[]) => boolean
}

function toForm(mark: string, fits: Form['fits']): Form {
  return { line: new RegExp(`^(\\s*)${mark}\\s*(\\S.*)$`, 'iu'), fits }
}

const FORMS: readonly Form[] = [
  toForm(
    `(${BULLETS}|[①-⓿❶-➓㉑-㉟㊱-㊿]|\\d\ufe0f?\u20e3|[(（【]?(?:\\p{Nd}{1,4}${NUMBERED}|[一二三四五六七八九十]{1,3}[.)）】、．]))`,
    inStep,
  ),
  toForm(`[(（【]?(\\p{L}|[ivx]{2,4})${NUMBERED}`, inOrder),
  // Any other symbol, if every item has it.
  toForm('(\\p{So})\ufe0f?', (labels) => labels.length > 1 && new Set(labels).size === 1),
]

/**
 * Whether bullets and numbers are not mixed, as in a list within a list, and numbers begin with 0 or 1 and follow each
 * other: lines that begin with a date are no list.
 */
function inStep(labels: readonly string[]): boolean {
  if (/[2-9]|\d\d/.test(labels[0] as string)) return false
  const numbers = labels.map((label) => /\p{Nd}(?!.*\p{Nd})/u.exec(label)?.[0].codePointAt(0))
  return numbers.every((number, i) => {
    const before = numbers[i - 1]
    if (i === 0 || number === before) return true
    if (number === undefined || before === undefined) return false
    // Of ten follows nine the last digit alone is compared, in any script. A list may begin again.
    return [1, -9].includes(number - before) || number === numbers[0]
  })
}

/** Between the items of one list: a heading, or a line of a fence. */
const HEADING = /[:：]\W{0,4}$|^#|^[`~]{3}/
/** `1、2` as the only line is an enumeration. */
const ENUMERATED = /^\s*.?\p{Nd}+[)）】、]\p{Nd}/u

/**
 * The items of the lines that look like those of a list. Indented lines directly below an item belong to it; other lines
 * between two items make a list that is not read. `following`: only the lines at the beginning, up to the first other
 * one.
 */
export function listItems(lines: readonly string[], following = false): string[] | undefined {
  for (const { line: form, fits } of FORMS) {
    const found: RegExpExecArray[] = []
    const items: string[] = []
    let indent = LONGEST
    let isApart = false
    for (const line of lines) {
      const match = line.length > LONGEST ? null : form.exec(line)
      const text = line.trim()
      if (match !== null) {
        if (isApart) return undefined
        found.push(match)
        items.push((match[3] as string).trim())
        indent = (match[1] as string).length
      } else if (text === '') indent = LONGEST
      else if (line.search(/\S/) > indent) items[items.length - 1] += `\n${text}`
      else if (following) break
      else isApart ||= found.length > 0 && !HEADING.test(text)
    }
    const [first] = found
    if (first === undefined || (found.length === 1 && ENUMERATED.test(first[0]))) continue
    const indents = found.map((match) => (match[1] as string).length)
    // Items of an inner list are not items of the outer one.
    if (Math.max(...indents) - Math.min(...indents) > 1 || !fits(found.map((match) => match[2] as string)))
      continue
    return items
  }
  return undefined
}

const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u
/** Chinese words, and Japanese nouns, with the comma of enumerations. */
const ENUMERATION = /^\s*[\p{sc=Han}\p{sc=Kana}ー\w]+(?:、[\p{sc=Han}\p{sc=Kana}ー\w]+)+\s*$/u

/** Two words, and only the first with a capital: `Sorry, nothing`. */
const SENTENCE = /^\p{Lu}[^\s,]*,?\s+[\p{Ll}\p{M}]+$/u

/**
 * Whether unquoted text is made of words, not of sentences. Scripts that write no spaces between words leave only the
 * comma of enumerations to tell them apart.
 */
export function areWords(region: Region, text: string): boolean {
  const items = region.node.items ?? []
  const words = items.filter((item) => item.kind === 'string' && item.bare)
  if (!words.every((item) => /^[^\s<>`]*[^\s<>`.!?:;。！？：；…]$/.test(String(item.value)))) return false
  if (SENTENCE.test(text.slice(region.start, region.end))) return false
  return (
    !words.some((item) => UNSPACED.test(String(item.value))) ||
    (words.length === items.length && ENUMERATION.test(text.slice(region.start, region.end)))
  )
}
