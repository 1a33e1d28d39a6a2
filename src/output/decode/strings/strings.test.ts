/** Where strings end, and what is in them: quotes inside, quotes missing, escapes, fences, cuts. */
import { describe, expect, it } from 'vitest'
import { parse } from '../../parse.ts'
import { createReader } from '../../reader.ts'

function read(text: string): unknown {
  const result = parse(text)
  return result.ok ? result.value : result.issues
}

/** The same text in chunks of one character: the stream has to wait where it cannot know yet. */
function streamed(text: string): unknown {
  const reader = createReader()
  for (const unit of text) reader.push(unit)
  const result = reader.end()
  return result.ok ? result.value : result.issues
}

describe.each<[string, readonly (readonly [string, unknown])[]]>([
  [
    'quotes inside a string stay',
    [
      ['{"a": "say "hi" now"}', { a: 'say "hi" now' }],
      ['{"a": "he said "no"", "b": 2}', { a: 'he said "no"', b: 2 }],
      ['{"text": "He said "hello", then left", "b": 1}', { text: 'He said "hello", then left', b: 1 }],
      ['{"a": "one", two", "b": 1}', { a: 'one", two', b: 1 }],
      ["{'a': 'it's'}", { a: "it's" }],
      ['{"a": \'b "c" d\'}', { a: 'b "c" d' }],
      ['["a "b" c", "d"]', ['a "b" c', 'd']],
      ['{"a": "see {b} and [c]", "d": 1}', { a: 'see {b} and [c]', d: 1 }],
      ['{"a": "code: {"x": 1}", "b": 2}', { a: 'code: {"x": 1}', b: 2 }],
    ],
  ],
  [
    'a missing quote is found by what follows',
    [
      ['["a, "b"]', ['a', 'b']],
      ['{"a": ["x, "y"]}', { a: ['x', 'y'] }],
      ['{"a": "x, "b": 1}', { a: 'x', b: 1 }],
      ['{"a": "x,\n"b": 1}', { a: 'x', b: 1 }],
      ['{"a": "unclosed, "b": "x"}', { a: 'unclosed', b: 'x' }],
      ['{"a": "x\n}', { a: 'x' }],
      ['{"key:"v"}', { key: 'v' }],
      ['{a": 1, b": 2}', { a: 1, b: 2 }],
      ['{"a: 1,\n"b": 2}', { a: 1, b: 2 }],
      ['{"name: "x"\n"b": 2}', { name: 'x', b: 2 }],
      ['{"a": "first, b: "second"}', { a: 'first', b: 'second' }],
      ['{"a": "first, b: second}', { a: 'first', b: 'second' }],
      ['{"a": "He began, thus: words}', { a: 'He began, thus: words' }],
      ['{"" a": 1, "" b c": 2}', { ' a': 1, ' b c': 2 }],
      ['{"" : 1, "a": ""}', { '': 1, a: '' }],
    ],
  ],
  [
    'a missing separator is found by what follows',
    [
      ['{"a": "x" "b": 2}', { a: 'x', b: 2 }],
      ['{"a": "x"\n"b": 2}', { a: 'x', b: 2 }],
      ['{"a": "x"\nb: 2}', { a: 'x', b: 2 }],
      ['{"a" "b"}', { a: 'b' }],
      ['{"a" -1}', { a: -1 }],
      ['{"a" true}', { a: true }],
      ['["a" "b" "c"]', ['a', 'b', 'c']],
      ['["a" 1]', ['a', 1]],
      ['["a" {"b": 1}]', ['a', { b: 1 }]],
    ],
  ],
  ['words after a string belong to nothing', [['{"a": "x" stray words, "b": 1}', { a: 'x', b: 1 }]]],
  [
    'doubled and tripled quotes are one',
    [
      ['{""a"": ""b""}', { a: 'b' }],
      ['{"a": """multi "quoted" text"""}', { a: 'multi "quoted" text' }],
      ["{'a': '''b'''}", { a: 'b' }],
      ['{"a": "", "b": ""}', { a: '', b: '' }],
      ['{"a":"","b":1}', { a: '', b: 1 }],
    ],
  ],
  [
    'a fence can be a value',
    [
      ['{"a": ```python\nprint("x")\n```}', { a: 'print("x")\n' }],
      ['{"a": ```\nsome\n```, "b": 1}', { a: 'some\n', b: 1 }],
    ],
  ],
  [
    'escapes mean what they mean in JSON, JSON5 or nothing',
    [
      [String.raw`{"a": "\u00\u0041\n\u12G\q\"\u", "b": 1}`, { a: '\\u00A\n\\u12G\\q"\\u', b: 1 }],
      [String.raw`{"a": "\u00x, b: 1}`, { a: '\\u00x, b: 1' }],
      ['["\\u00e9\\n\\/", x]', ['é\n/', 'x']],
      ['["\\x41", "\\\'", x]', ['A', "'", 'x']],
      ['["\\q", x]', ['\\q', 'x']],
      ['["\\u12zz", x]', ['\\u12zz', 'x']],
      ['{"a": "C:\\u"}', { a: 'C:\\u' }],
      ['["\\u12"]', ['\\u12']],
      ['[\\"a\\", \\"b\\", x]', ['a', 'b', 'x']],
      ['{\\"a\\": \\"say \\\\\\"hi\\\\\\"\\", b: 1}', { a: 'say "hi"', b: 1 }],
      ['{\\"a\\": \\"x\\\\ny\\", b: 1}', { a: 'x\ny', b: 1 }],
    ],
  ],
  [
    'strings joined by + are one',
    [
      ['{"a": "x" + "y" + \'z\'}', { a: 'xyz' }],
      ['["x" +\n"y"]', ['xy']],
    ],
  ],
  [
    'other quotes do as well',
    [
      ['{“a”: “b”, ‘c’: ‘d’}', { a: 'b', c: 'd' }],
      ['{„a“: „b“}', { a: 'b' }],
      ['{«a»: ‹b›}', { a: 'b' }],
      ['{「a」: 『b』}', { a: 'b' }],
      ['{＂a＂: ＇b＇}', { a: 'b' }],
      ['{´a´: `b`}', { a: 'b' }],
      ['{‚a‘: ”b”}', { a: 'b' }],
    ],
  ],
  [
    'JSON in a string that was escaped unevenly is made even, and only then',
    [
      ['{"a": "{\\\\"b\\\\\\":[\\"c\\\\\\"],"d":"e"}"}', { a: '{"b":["c"],"d":"e"}' }],
      ['{"a": "[\\\\"b", "c"]", "d": 1}', { a: '["b", "c"]', d: 1 }],
      // Escaped soundly, once or twice.
      ['{"a": "{\\"b\\":1}",}', { a: '{"b":1}' }],
      ['{"a": "{\\"b\\":\\"\\\\\\"c\\\\\\"\\"}",}', { a: '{"b":"\\"c\\""}' }],
      // Not JSON either way.
      ['{"a": "say \\\\"b" now"}', { a: 'say \\"b" now' }],
    ],
  ],
  [
    'raw line breaks and control characters are content',
    [
      ['{"a": "x\ny\tz\u0001"}', { a: 'x\ny\tz\u0001' }],
      ['{"a": "ends with a break\n"}', { a: 'ends with a break\n' }],
    ],
  ],
])('%s', (_, cases) => {
  it.each(cases)('%s', (text, value) => {
    expect(read(text)).toEqual(value)
    expect(streamed(text)).toEqual(value)
  })
})

describe('a string that was cut off', () => {
  it.each<[string, unknown, unknown]>([
    ['{"a": 1, "b": "so', { a: 1 }, { a: 1, b: 'so' }],
    ['{"a": "so', {}, { a: 'so' }],
    ['["a", "b', ['a'], ['a', 'b']],
    ['{"a": 1, "b', { a: 1 }, { a: 1 }],
    ['{"a": "b\\u00', {}, { a: 'b' }],
    ['{"a": "b\\', {}, { a: 'b' }],
  ])('%s', (text, without, accepted) => {
    expect(parse(text)).toMatchObject({ ok: true, value: without, truncated: true })
    expect(parse(text, undefined, { acceptTruncated: true })).toMatchObject({ ok: true, value: accepted })
  })
})
