/**
 * Hostile and broken XML yields a located error soon: no entity expansion, no deep recursion, no
 * external files.
 */
import { describe, expect, it } from 'vitest'
import { describeSourceIssue } from '../../text/source.ts'
import { isElement, readXml, xmlLimits } from './read-xml.ts'

function refused(given: string | Uint8Array) {
  const start = process.cpuUsage()
  const read = readXml(given, 'bad.xml')
  // Processor time of the process: other tests may run in it.
  const { user, system } = process.cpuUsage(start)
  expect((user + system) / 1_000).toBeLessThan(5_000)
  if (read.ok) throw new Error('expected a refusal')
  const [issue] = read.issues
  if (issue === undefined) throw new Error('expected an issue')
  return issue
}

const bomb = `<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY a "ha">
${Array.from({ length: 30 }, (_, i) => ` <!ENTITY ${String.fromCharCode(98 + (i % 25))}${i} "${'&a;'.repeat(100)}">`).join('\n')}
]>
<task><description>&b0;</description></task>`

describe('reading XML', () => {
  it('keeps elements, attributes and texts with their places', () => {
    const text =
      '<task a="1"\n  b = "x &amp; y"><description>Say &lt;hi&gt; <![CDATA[& more]]></description></task>'
    const read = readXml(text)
    if (!read.ok) throw new Error('expected a document')
    const { root } = read.document
    expect(
      [...root.attributes].map(([name, { value, range }]) => [name, value, text.slice(...range)]),
    ).toEqual([
      ['a', '1', 'a="1"'],
      ['b', 'x & y', 'b = "x &amp; y"'],
    ])
    const [description] = root.children.filter(isElement)
    expect(description && text.slice(...description.range)).toBe('<description>')
    expect(description?.children.map((child) => (isElement(child) ? '' : child.text)).join('')).toBe(
      'Say <hi> & more',
    )
  })

  it('takes a BOM and a declaration of UTF-8', () => {
    expect(readXml('\ufeff<task/>').ok).toBe(true)
    expect(readXml('<?xml version="1.0" encoding="UTF-8"?><task/>').ok).toBe(true)
  })

  it.each([
    ['an entity bomb', bomb, 'template/doctype'],
    [
      'an external entity',
      '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><task>&x;</task>',
      'template/doctype',
    ],
    ['an external DTD', '<!DOCTYPE t SYSTEM "http://localhost/t.dtd"><task/>', 'template/doctype'],
    ['an unknown entity', '<task>\n  &nbsp;</task>', 'template/xml'],
    ['an entity named like a method', '<task>&constructor;&toString;</task>', 'template/xml'],
    ['a stylesheet', '<?xml-stylesheet href="http://localhost/x.xsl"?><task/>', 'template/instruction'],
    ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><task/>', 'template/encoding'],
    ['a tag that is not closed', '<task>\n<description>x</task>', 'template/xml'],
    ['text after the root', '<task/>x', 'template/xml'],
    ['two roots', '<task/><task/>', 'template/xml'],
    ['an attribute twice', '<task name="a" name="b"/>', 'template/xml'],
    ['an attribute without quotes', '<task name=a/>', 'template/xml'],
    ['nothing', '', 'template/xml'],
    ['a control character', '<task>\u0000</task>', 'template/xml'],
    ['a bare &', '<task>a & b</task>', 'template/xml'],
    ['elements in each other', '<a>'.repeat(100_000).slice(0, 250_000), 'template/limit'],
    ['one element more deep than allowed', `${'<a>'.repeat(65)}${'</a>'.repeat(65)}`, 'template/limit'],
    ['very many elements', `<a>${'<b/>'.repeat(20_000)}</a>`, 'template/limit'],
  ])('refuses %s at its place', (_, text, code) => {
    const issue = refused(text)
    expect(issue.code).toBe(code)
    expect(issue.line).toBeGreaterThan(0)
    expect(issue.hint).toBeTruthy()
    expect(describeSourceIssue(issue)).toContain('^')
  })

  it('says the line and the column', () => {
    expect(refused('<task>\n  <description>&nbsp;</description>\n</task>')).toMatchObject({
      line: 2,
      column: 21,
    })
  })

  it('takes 64 elements in each other', () => {
    expect(readXml(`${'<a>'.repeat(64)}${'</a>'.repeat(64)}`).ok).toBe(true)
  })

  it('rejects 50 MB by size, without parsing it', () => {
    const issue = refused(new Uint8Array(50 * 1024 * 1024).fill(0x3c))
    expect(issue).toMatchObject({ code: 'template/limit' })
    expect(issue.message).toContain(String(xmlLimits.bytes))
  })

  it.each([
    ['one tag that never ends', `<task ${'a'.repeat(250_000)}`],
    ['one attribute that never ends', `<task a="${'x'.repeat(250_000)}`],
    [
      'attributes without end',
      `<task ${Array.from({ length: 30_000 }, (_, i) => `a${i}=""`).join(' ')}`.slice(0, 260_000),
    ],
    ['a comment that never ends', `<task><!--${'-'.repeat(250_000)}`],
    ['references without end', `<task>${'&#120;'.repeat(40_000)}`],
    ['brackets', '<'.repeat(260_000)],
    ['closing tags', `<a>${'</a>'.repeat(60_000)}`],
    ['a DOCTYPE that never ends', `<!DOCTYPE a [${'<!ENTITY a "b">'.repeat(16_000)}`],
  ])('refuses %s soon', (_, text) => {
    expect(refused(text).message.length).toBeLessThan(400)
  })

  it('names the byte that is not UTF-8, with its place', () => {
    const issue = refused(
      Buffer.from([...Buffer.from('<task>\n  <description>caf'), 0xe9, ...Buffer.from('</task>')]),
    )
    expect(issue).toMatchObject({ code: 'template/utf-8', line: 2 })
    expect(issue.message).toContain('0xe9')
  })
})
