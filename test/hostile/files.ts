/** Files that want to take long, dive or fill the memory: bombs of aliases, entities and calls, deep, long and broken ones, as large as is let in. */
const size = 256 * 1024 - 200
const fill = (part: string, head = '', tail = '') =>
  head + part.repeat(Math.floor((size - head.length - tail.length) / part.length)) + tail
const t = (body: string) => `<task><description>${body}</description></task>`
const many = (n: number, f: (i: number) => string) => Array.from({ length: n }, (_, i) => f(i)).join('')
export const xml: Readonly<Record<string, string | Uint8Array>> = {
  fiftyMegabytes: new Uint8Array(50e6),
  elements: fill('<a/>', '<task>', '</task>'),
  tasks:
    '<task type="sequential"><steps>' +
    many(3500, () => '<task><description>x</description></task>') +
    '</steps></task>',
  deep: fill('<a>'),
  deepTask: fill('<task type="sequential"><steps>'),
  attrs: `<task ${many(12000, (i) => `a${i}="1" `)}/>`,
  attrsTwice: `<task ${many(40000, () => `a="" `)}/>`,
  longAttr: `<task a="${'x'.repeat(size - 100)}"/>`,
  longName: `<${'x'.repeat(size - 100)}/>`,
  lt: '<'.repeat(size),
  amp: fill('&', '<task><description>', '</description></task>'),
  charref: fill('&#65;', '<task><description>', '</description></task>'),
  ents: fill('&lt;', '<task><description>', '</description></task>'),
  unknownEnts: fill('&x;', '<task><description>', '</description></task>'),
  bomb:
    '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">' +
    many(30, (i) => `<!ENTITY a${i} "${'&a;'.repeat(10)}">`) +
    ']><l>&a9;</l>',
  doctypeLong: fill('<!ENTITY a "b">', '<!DOCTYPE l [', ']><l/>'),
  doctypeOpen: fill('[', '<!DOCTYPE l '),
  comments: fill('<!-- -->', '<task>', t('')),
  commentOpen: `<task><!--${'-'.repeat(size - 100)}`,
  cdata: fill('<![CDATA[x]]>', '<task><description>', '</description></task>'),
  cdataOpen: `<task><![CDATA[${']'.repeat(size - 100)}`,
  pis: fill('<?a b?>'),
  piOpen: `<?${'a'.repeat(size - 100)}`,
  lines: fill('\n', '<task>', '</task>'),
  crs: fill('\r', '<task>', '</task>'),
  text: t('x'.repeat(size - 100)),
  exprs: t(fill('{{a}}').slice(0, -100)),
  exprsDistinct: t(many(20000, (i) => `{{a${i}}}`)),
  braces: t('{'.repeat(size - 100)),
  exprOpen: t(`{{${'a'.repeat(size - 100)}`),
  calls: t(fill('{{f(a,b)}}').slice(0, -100)),
  callDeep: t(`{{${'f('.repeat(80000)}}}`),
  dots: t(`{{a${'.b'.repeat(100000)}}}`),
  quotes: t(`{{f('${"'a".repeat(80000)}}}`),
  cases: `<cond>${many(4000, (i) => `<case test="{{a}} eq ${i}">{{a}}</case>`)}</cond>`,
  templates: many(
    3000,
    (i) => `<template name="t${i}" params="a"><task><description>x</description></task></template>`,
  ),
  callBomb:
    '<templates>' +
    many(
      40,
      (i) =>
        `<template name="t${i}" params=""><task type="sequential"><steps>${`<call template="t${i + 1}"/>`.repeat(100)}</steps></task></template>`,
    ) +
    '</templates>',
  params: `<template name="t" params="${many(30000, (i) => `p${i},`)}"><task><description>x</description></task></template>`,
  inputs:
    '<task><description>x</description><inputs>' +
    many(3000, (i) => `<input name="n${i}" from="a"/>`) +
    '</inputs></task>',
  utf8: new Uint8Array(size).fill(0xff),
  utf8mid: Buffer.concat([
    Buffer.from('<task>\n'.repeat(10000)),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('x'.repeat(1000)),
  ]),
  utf16: Buffer.from(t('x'.repeat(60000)), 'utf16le'),
  nul: `<task>${'\0'.repeat(size - 100)}`,
  unclosed: fill('<task><description>', ''),
  wrongClose: '<a>'.repeat(60) + fill('</b>'),
}
export const yaml: Readonly<Record<string, string | Uint8Array>> = {
  fiftyMegabytes: new Uint8Array(50e6),
  aliasBomb:
    'a: &a [x,x,x,x,x,x,x,x,x]\n' +
    many(
      20,
      (i) =>
        `a${i}: &a${i} [${Array(9)
          .fill(i ? `*a${i - 1}` : '*a')
          .join(',')}]\n`,
    ),
  aliases: `a: &a 1\nb: [${fill('*a, ').slice(0, -100)}]`,
  anchors: many(20000, (i) => `k${i}: &a${i} 1\n`),
  mergeBomb: `a: &a {x: 1}\n${many(2000, (i) => `b${i}: {<<: *a, y: 1}\n`)}`,
  deepFlow: fill('['),
  deepMap: fill('{a: '),
  deepBlock: many(700, (i) => `${' '.repeat(i)}a:\n`),
  deepSeq: fill('- '),
  keys: many(30000, (i) => `k${i}: 1\n`),
  sameKeys: fill('a: 1\n'),
  longKey: `${'x'.repeat(size)}: 1`,
  question: fill('? '),
  colons: fill(': '),
  tabs: fill('\t'),
  quotes: fill('"'),
  single: fill("'"),
  block: `a: |\n${fill(' x\n').slice(0, -100)}`,
  comments: fill('#\n'),
  docs: fill('---\n'),
  tags: fill('!a '),
  tagLong: `!${'a'.repeat(size - 10)}`,
  percent: fill('%a\n'),
  bangs: fill('!!js/function '),
  commas: `[${fill(',').slice(0, -10)}`,
  steps: `steps:\n${many(4000, (i) => `  - { name: s${i}, uses: wrap_dict }\n`)}`,
  templ: `steps: [{ name: a, uses: wrap_dict, input: "${'{{ input }}'.repeat(8000)}" }]`,
  templ2:
    'steps:\n' +
    many(
      2000,
      (i) => `  - { name: s${i}, uses: wrap_dict, input: "{{ steps.s${i - 1}.output }} {{ context }}" }\n`,
    ),
  utf8: new Uint8Array(size).fill(0xff),
  utf16: Buffer.from('a: 1\n'.repeat(20000), 'utf16le'),
  nul: '\0'.repeat(size),
  crlf: fill('a\r\n'),
  spaces: fill(' '),
  pipes: fill('|\n'),
  stars: fill('*'),
  amps: fill('&'),
  dash: fill('-'),
  lines: '\n'.repeat(size),
}
