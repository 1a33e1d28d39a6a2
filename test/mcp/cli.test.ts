/** MCP servers of `proviso.toml`: listed with their problems, and used by the steps of a pipeline. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { proviso, requireBuild } from '../support.ts'
import { folder, scripted } from './support.ts'

const settings = `
[mcp.tea]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(scripted)}]
env = { API_TOKEN = "\${TEA_TOKEN}" }
protocol = "modern"
tools = ["add", "nothing"]

[mcp.tea.effects]
add = "read"
`

it('reads servers from the settings, lists their tools, and runs a pipeline with one of them', async () => {
  requireBuild()
  const cwd = folder()
  writeFileSync(join(cwd, 'proviso.toml'), settings)
  const pipeline = {
    version: '0.1',
    name: 'sums',
    steps: [{ name: 'sum', uses: 'tea.add', input: { a: 1, b: 2 } }],
  }
  writeFileSync(join(cwd, 'sums.yaml'), JSON.stringify(pipeline))
  const env = { TEA_TOKEN: 'hunter2-hunter2' }
  const [unset, listed, ran] = await Promise.all([
    proviso(['mcp', 'list'], { cwd }),
    proviso(['mcp', 'list', '--json'], { cwd, env }),
    proviso(['run', 'sums.yaml'], { cwd, env }),
  ])
  expect(unset).toMatchObject({ code: 2, stderr: expect.stringContaining('TEA_TOKEN is not set') })
  expect(listed.code).toBe(3)
  expect(JSON.parse(listed.stdout)).toMatchObject({
    ok: false,
    servers: [
      {
        name: 'tea',
        status: 'connected',
        stderr: ['started with [redacted]'],
        tools: [
          { capabilityId: 'tea.add', effect: 'read' },
          { tool: 'nothing', problem: 'the server does not have it' },
        ],
      },
    ],
  })
  expect(ran).toMatchObject({ code: 0 })
  expect(JSON.parse(ran.stdout)).toEqual({ sum: 3 })
})
