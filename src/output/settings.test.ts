/** Options are filled in once, and an impossible one is a mistake of the program: said by name, with what is allowed. */
import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../base/errors/error.ts'
import { parse } from './parse.ts'
import { defaultLimits, resolveSettings } from './settings.ts'
import type { ParseOptions } from './types.ts'

describe('options', () => {
  it('have the defaults that the reference states', () => {
    expect(resolveSettings()).toMatchObject({
      aop: 'full',
      tolerance: 2,
      unescapeDepth: 2,
      prefer: 'first',
      acceptTruncated: false,
      salvage: false,
      defaults: false,
      hasClosed: false,
      limits: { bytes: 16 * 1024 * 1024, depth: 512, repairs: 10_000 },
    })
    expect(resolveSettings({ aop: 'minimal' }).tolerance).toBe(0)
    expect(resolveSettings({ limits: { depth: 7 } }).limits).toEqual({ ...defaultLimits, depth: 7 })
  })

  it('are filled in once for one object', () => {
    const options = { prefer: 'last' as const }
    expect(resolveSettings(options)).toBe(resolveSettings(options))
  })

  it.each<[string, object, string]>([
    [
      'an unknown level',
      { aop: 'most' },
      'Option aop must be one of "off", "minimal", "full", but is "most"',
    ],
    ['a tolerance beyond 2', { tolerance: 3 }, 'Option tolerance must be one of 0, 1, 2, but is 3'],
    ['another union strategy', { anyOf: 'best' }, 'Option anyOf must be one of "first-pass", but is "best"'],
    [
      'an unknown preference',
      { prefer: 'longest' },
      'Option prefer must be one of "first", "last", "largest"',
    ],
    ['a negative limit', { limits: { bytes: -1 } }, 'Option limits.bytes must be a whole number, 0 or more'],
    ['a limit that is no number', { limits: { steps: '9' } }, 'Option limits.steps must be a whole number'],
    ['a depth that no stack holds', { limits: { depth: 2001 } }, 'Option limits.depth must be at most 2000'],
    ['endless unfolding', { unescapeDepth: 17 }, 'Option unescapeDepth must be a whole number from 0 to 16'],
  ])('refuses %s', (_, options, message) => {
    // What callers without types may pass.
    expect(() => parse('{}', true, options as ParseOptions)).toThrow(ProvisoError)
    expect(() => resolveSettings(options as ParseOptions)).toThrow(message)
  })
})

describe('allowed conversions', () => {
  it('are every unambiguous one in full, none in minimal, and the listed ones of a type that is listed', () => {
    expect(resolveSettings().allows('integer', 'str->int')).toBe(true)
    expect(resolveSettings().allows('boolean', 'num->bool')).toBe(false)
    expect(resolveSettings({ aop: 'minimal' }).allows('integer', 'str->int')).toBe(false)
    const own = resolveSettings({ allow: { boolean: ['word->bool'] } })
    expect(own.allows('boolean', 'word->bool')).toBe(true)
    expect(own.allows('boolean', 'str->bool')).toBe(false)
    expect(own.allows('integer', 'str->int')).toBe(true)
  })
})

describe('closed paths', () => {
  it.each([
    ['/confidence', '/confidence', true],
    ['/confidence', '/other', false],
    ['/items/*/id', '/items/3/id', true],
    ['/items/*/id', '/items/3/name', false],
    ['/items', '/items/0', false],
    ['', '', true],
    ['/a~1b', '/a~1b', true],
  ])('%s covers %s: %s', (closed, pointer, covered) => {
    expect(resolveSettings({ closed: [closed] }).isClosed(pointer)).toBe(covered)
  })

  it('are absent unless given', () => {
    expect(resolveSettings({ closed: [] }).isClosed('/a')).toBe(false)
  })
})
