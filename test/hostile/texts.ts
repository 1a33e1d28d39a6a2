/** Contracts whose cost is in reading text: patterns and formats. */
import { everywhere, type HostileContract } from './shapes.ts'

export function patterns(): HostileContract[] {
  const slow: [string, string][] = [
    ['^(a+)+$', `${'a'.repeat(50_000)}!`],
    ['^(a|a)*$', `${'a'.repeat(50_000)}!`],
    ['^(a|aa)+$', `${'a'.repeat(50_000)}!`],
    ['^(.*?,){11}P', '1,'.repeat(30_000)],
    ['\\s+$', `${' '.repeat(50_000)}x`],
    ['(x+x+)+y', 'x'.repeat(50_000)],
    ['^(\\w+\\s?)*$', `${'word '.repeat(10_000)}!`],
    ['^([a-zA-Z0-9._-]+)+@', 'a'.repeat(50_000)],
    ['(.*)*(.*)*(.*)*=', 'x'.repeat(20_000)],
    ['^((a{1,100}){1,5}){1,2}$', `${'a'.repeat(20_000)}!`],
  ]
  const impossible = [
    '(?=a)',
    '(?!a)b',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a{5000}',
    '((a{99}){99}){99}',
    'a'.repeat(257),
  ]
  return [
    ...slow.flatMap(([pattern, value]) => everywhere(`slow pattern ${pattern}`, { pattern }, { value })),
    ...slow.map(([pattern, value]) => ({
      name: `slow key pattern ${pattern}`,
      schema: { patternProperties: { [pattern]: { type: 'null' } } },
      value: { [value]: null },
    })),
    ...impossible.flatMap((pattern) =>
      everywhere(`pattern ${pattern.slice(0, 30)}`, { pattern }, { refused: true }),
    ),
    ...impossible.map((pattern) => ({
      name: `key pattern ${pattern.slice(0, 30)}`,
      schema: { patternProperties: { [pattern]: {} } },
      refused: true as const,
    })),
  ]
}

export function formats(): HostileContract[] {
  const known =
    'date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 regex uuid json-pointer byte iso-time'
  const unknown = [
    'url',
    'idn-email',
    'idn-hostname',
    'iri',
    'iri-reference',
    'color',
    '__proto__',
    'toString',
    '',
  ]
  const text = `http://${':'.repeat(50_000)}@${'a.'.repeat(20_000)}`
  return [
    ...known.split(' ').map((format) => ({ name: `format ${format}`, schema: { format }, value: text })),
    ...unknown.flatMap((format) =>
      everywhere(`format "${format}"`, { format }, { refused: true, value: text }),
    ),
  ]
}
