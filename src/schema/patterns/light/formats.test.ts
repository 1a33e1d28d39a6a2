import { describe, expect, it } from 'vitest'
import * as full from '../formats.ts'
import * as light from './formats.ts'

/** Texts at the edges of what the formats that are functions accept. */
const days = [
  '2024-02-29',
  '2023-02-29',
  '1900-02-29',
  '2000-02-29',
  '2024-04-31',
  '2024-12-31',
  '2024-13-01',
]
const moreDays = ['2024-00-10', '2024-01-00', '2024-01-32', '24-01-01', '2024-1-1', '', 'x', ' 2024-01-01']
const hours = ['12:00:00Z', '12:00:00z', '12:00:00', '23:59:60Z', '22:59:60-01:00', '12:59:60Z', '24:00:00Z']
const moreHours = [
  '00:29:60+00:30',
  '12:00:00+24:00',
  '12:00:00+01',
  '12:00:00.5+0130',
  '12:60:00Z',
  '23:59:61Z',
]
const others = [
  'http://a/b',
  'a',
  '/a',
  'a:b',
  'urn:x',
  '://',
  '#/a',
  '(',
  'a\\Z',
  '\\Z',
  '[a-z]+',
  'YQ==',
  'YQ=',
  'a\nb',
]
const texts = [
  ...days,
  ...moreDays,
  ...hours,
  ...moreHours,
  ...others,
  ...days.flatMap((day) => hours.flatMap((hour) => [`${day}T${hour}`, `${day} ${hour}`, `${day}t${hour}T`])),
]
const numbers = [0, -0, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, 1e300, -3]

describe('the formats of the light reader', () => {
  const names = Object.keys(full.formats)

  it('are those of the full reader, in their order', () => {
    expect(Object.keys(light.formats)).toEqual(names)
    expect([...light.safeFormats]).toEqual([...full.safeFormats])
  })

  it.each(names)('%s accepts what it accepts there', (name) => {
    const [here, there] = [light.formats[name], Reflect.get(full.formats, name)]
    if (here instanceof RegExp && there instanceof RegExp) {
      expect(String(here)).toBe(String(there))
    } else if (here === true) {
      expect(there).toBe(true)
    } else {
      const samples = typeof here === 'object' && 'type' in here ? numbers : texts
      expect(samples.map(testOf(here))).toEqual(samples.map(testOf(there)))
    }
  })
})

function testOf(format: unknown): (value: unknown) => boolean {
  const test = typeof format === 'object' && format !== null ? Reflect.get(format, 'validate') : format
  if (format instanceof RegExp) return (value) => format.test(String(value))
  if (typeof test === 'function') return (value) => test(value)
  throw new Error('a format without a check')
}
