/** The offset where a text stops being JSON is named in the same words on every engine. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFault } from './json-error.ts'
import { parse } from './parse.ts'

describe('the fault of a text that is not strict JSON', () => {
  it.each([
    ['', 'it ends too early, at offset 0'],
    ['Sure! {}', 'unexpected "S" at offset 0'],
    ['{"a": 1,}', 'unexpected "}" at offset 8'],
    ['[1, 2', 'it ends too early, at offset 5'],
    ['[1 2]', 'unexpected "2" at offset 3'],
    ['{a: 1}', 'unexpected "a" at offset 1'],
    ['{"a" 1}', 'unexpected "1" at offset 5'],
    ['"a\nb"', 'unexpected "\\n" at offset 2'],
    ['"\\x"', 'unexpected "\\\\" at offset 1'],
    ['"cut', 'it ends too early, at offset 4'],
    ['01', 'unexpected "1" at offset 1'],
    ['[1}', 'unexpected "}" at offset 2'],
    ['{} 😀', 'unexpected "😀" at offset 3'],
  ])('%j: %s', (text, words) => {
    expect(describeFault(text)).toBe(words)
    const [issue] = parse(text, { type: 'object' }, { aop: 'off' }).issues
    if (text !== '') expect(issue?.message).toBe(`the text is not strict JSON: ${words}`)
  })

  it('is never in a part that JSON accepts: everything before it can be the start of JSON', () => {
    const mutated = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', 'x', '\\', '\n', '0'))
    fc.assert(
      fc.property(mutated, ([json, offset, insert]) => {
        const at = offset % (json.length + 1)
        const text = json.slice(0, at) + insert + json.slice(at + 1)
        const position = faultOfEngine(text)
        if (position === undefined) return
        expect(describeFault(text)).toContain(`offset ${position}`)
      }),
    )
  })
})

/** The offset that V8 names, where it names one. */
function faultOfEngine(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    // V8 names the character behind a faulty escape or literal, this reader the one in which it begins.
    if (/escape|literal|token|number/i.test((error as Error).message)) return undefined
    return /position (\d+)/.exec((error as Error).message)?.[1]
  }
}
