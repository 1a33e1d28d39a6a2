/** Texts that make careless readers slow or overflow their stack, at any size (T10). Used by the test and the bench. */

export interface HostileText {
  readonly name: string
  /** A text of about `size` UTF-16 units. */
  make(size: number): string
}

/** One unit repeated, between a beginning and an end. */
function repeated(name: string, unit: string, before = '', after = ''): HostileText {
  return {
    name,
    make: (size) =>
      before +
      unit.repeat(Math.max(1, Math.floor((size - before.length - after.length) / unit.length))) +
      after,
  }
}

export const hostileTexts: readonly HostileText[] = [
  repeated('open-brackets', '['),
  repeated('open-braces', '{'),
  repeated('close-brackets', ']'),
  repeated('close-braces', '}'),
  repeated('nested-objects', '{"a":'),
  repeated('nested-lists-objects', '[{"a":'),
  { name: 'balanced-brackets', make: (size) => '['.repeat(size / 2) + ']'.repeat(size / 2) },
  repeated('quotes', '"'),
  repeated('apostrophes', "'"),
  repeated('curly-quotes', '“”'),
  repeated('backslashes', '\\', '{"a":"'),
  repeated('backslashes-bare', '\\'),
  repeated('escaped-quotes', '\\"', '{'),
  repeated('spaces', ' '),
  repeated('spaces-in-fence', ' ', '```json\n'),
  repeated('newlines', '\n', '{'),
  repeated('commas', ','),
  repeated('commas-in-list', ',', '[1'),
  repeated('trailing-commas', '1,', '[', ']'),
  repeated('trailing-commas-objects', '{"a":1,},', '[', ']'),
  repeated('colons', ':'),
  repeated('colons-in-object', ':', '{"a"'),
  repeated('key-fragments', '"b:', '{'),
  repeated('key-value-fragments', '"b":"', '{'),
  repeated('unescaped-quotes', 'a "b" c ', '{"a": "', '"}'),
  repeated('unescaped-quotes-commas', 'a "b", c ', '{"a": "', '"}'),
  repeated('unescaped-quotes-colons', 'a "b": c, ', '{"a": "', '"}'),
  repeated('missing-end-quotes', '"abc,\n', '[\n', ']'),
  repeated('missing-end-quotes-members', '"a": "b,\n', '{\n', '}'),
  repeated('braces-in-prose', 'x { y '),
  repeated('brackets-in-prose', 'see [1] and [x] '),
  repeated('objects-in-prose', 'text {"a": 1} '),
  repeated('half-objects-in-prose', 'text {"a": '),
  repeated('lines-of-json', '{"a":1}\n'),
  repeated('fences', '```'),
  repeated('fence-lines', '```json\n'),
  repeated('fence-pairs', '```json\n{}\n```\n'),
  repeated('tilde-fences', '~~~\n'),
  repeated('back-ticks', '`', '{"a":'),
  repeated('think-tags', '<think>'),
  repeated('think-pairs', '<think>{"a":1}</think>'),
  repeated('closing-think-tags', '</think>'),
  repeated('answer-tags', '<answer>{'),
  repeated('angle-brackets', '<'),
  repeated('special-tokens', '<|im_end|>'),
  repeated('comment-starts', '/*', '{'),
  repeated('line-comments', '// x\n', '{'),
  repeated('hash-comments', '# x\n', '['),
  repeated('slashes', '/'),
  repeated('concatenation', '"a" + ', '['),
  repeated('digits', '9', '{"a":'),
  repeated('minus-signs', '-', '['),
  repeated('dots', '.', '['),
  repeated('letters', 'a', '{"a":'),
  repeated('words', 'word ', '{a: '),
  repeated('correction-cues', 'Sorry, actually: {"a":1} '),
  repeated('calls', 'f('),
  repeated('zero-width', '\u200B', '{"a":1'),
  repeated('nul', '\u0000', '['),
  repeated('lone-surrogates', '\uD800', '{"a":"', '"}'),
  repeated('encoded', '\\"a\\":', '"{', '}"'),
  repeated('unicode-escapes', '\\u00', '["'),
  repeated('triple-quotes', '"""', '{"a":'),
  repeated('full-width', '｛＂a＂：'),
  repeated('wrong-closers', '[}{]'),
  repeated('ellipses', '..., ', '['),
  repeated('same-key', '"a":1,', '{', '"a":1}'),
  repeated('many-keys', '"k": 1, ', '{'),
]
