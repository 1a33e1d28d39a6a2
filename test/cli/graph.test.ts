/** Promises of `proviso graph`, tested on the built file. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { proviso, root } from '../support.ts'
import { file, pathInFolder, runFile, scripted } from './run-support.ts'

const blocks = ['graph', `${root}/examples/pipelines/blocks.yaml`, '--assume-providers']
const input = ['--input', '{"topics": ["green"], "style": "short"}']

describe('the picture of a pipeline', () => {
  it('shows the steps that people wrote, maps and loops as groups, routes with their labels', async () => {
    const { code, stdout } = await proviso([...blocks, ...input])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^---\ntitle: .*\n---\nflowchart TD\n/)
    expect(stdout).not.toMatch(/proviso\.pipeline\.(render|pass)|\.input|\.if\b/)
    expect(stdout).toMatch(/subgraph n\d+\["each<br>for each item"\]\n\s+n\d+\["line<br>/)
    expect(stdout).toMatch(/subgraph n\d+\["refine<br>repeat"\]/)
    expect(stdout).toMatch(/n\d+ -->\|"short"\| n\d+/)
    const all = await proviso([...blocks, ...input, '--all'])
    expect(all.stdout).toContain('proviso.pipeline.render')
  })

  it('needs no input: the same steps are drawn without one', async () => {
    const nodes = async (args: readonly string[]) => {
      const { code, stdout } = await proviso([...args, '--format', 'json'])
      expect(code).toBe(0)
      return (JSON.parse(stdout) as { nodes: { id: string }[] }).nodes.map(({ id }) => id).sort()
    }
    expect(await nodes(blocks.slice(0, 2))).toEqual(await nodes([...blocks, ...input]))
  })

  it('is drawn as SVG and printed for Graphviz, with every node once and inside the picture', async () => {
    const svg = await proviso([...blocks, ...input, '--format', 'svg'])
    const { stdout } = await proviso([...blocks, ...input, '--format', 'json'])
    const { nodes } = JSON.parse(stdout) as { nodes: { id: string }[] }
    expect(nodes.length).toBeGreaterThan(8)
    expect(svg.stdout.match(/<rect /g)).toHaveLength(nodes.length)
    const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg.stdout) ?? []).map(Number)
    for (const [, x = '', y = ''] of svg.stdout.matchAll(/<rect x="([\d.-]+)" y="([\d.-]+)"/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(0)
      expect(Number(x)).toBeLessThan(width)
      expect(Number(y)).toBeLessThan(height)
    }
    const dot = await proviso([...blocks, ...input, '--format', 'dot'])
    expect(dot.stdout).toMatch(/^digraph ".*" \{\n/)
    expect(dot.stdout).toMatch(/subgraph cluster_n\d+ \{/)
  })
})

describe('the picture of a run', () => {
  it('has the state of every node, and survives hostile names in every format', async () => {
    const label = '"]<script>alert(1)</script> & \\" --> x'
    const draft = {
      nodes: [
        { id: 'a', capabilityId: 'a', label },
        { id: 'b', capabilityId: 'b', inputs: { text: { node: 'a', pointer: '/text' } } },
      ],
      output: { node: 'b' },
    }
    const good = [{ text: '{"text": "Tea"}' }]
    const capabilities = [scripted('a', good), scripted('b', [{ text: 'no' }])]
    const store = `sqlite:${pathInFolder('graph.db')}`
    const path = file('graph.json', { ...runFile(), draft, capabilities })
    await proviso(['run', path, '--store', store, '--run-id', 'r1'])
    const mermaid = await proviso(['graph', 'r1', '--store', store])
    expect(mermaid).toMatchObject({ code: 0 })
    expect(mermaid.stdout).toMatch(/class n0 completed/)
    expect(mermaid.stdout).toMatch(/class n1 error/)
    expect(mermaid.stdout).not.toContain('<script')
    const out = pathInFolder('r1.svg')
    const svg = await proviso(['graph', 'r1', '--store', store, '--format', 'svg', '-o', out])
    expect(svg).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(out, 'utf8')).not.toContain('<script')
    expect(readFileSync(out, 'utf8')).toContain('class="work completed"')
    const dot = await proviso(['graph', 'r1', '--store', store, '--format', 'dot'])
    expect(dot.stdout).toContain('label="\\"]<script>alert(1)</script> & \\\\\\" --> x\\na"')
  })

  it('says what is missing', async () => {
    const store = `sqlite:${pathInFolder('graph.db')}`
    const unknown = await proviso(['graph', 'r9', '--store', store])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(unknown.stderr).toContain('"r9" is neither a file nor a run of the store')
    expect(await proviso(['graph', 'absent.yaml'])).toMatchObject({ code: 2, stdout: '' })
  })
})
