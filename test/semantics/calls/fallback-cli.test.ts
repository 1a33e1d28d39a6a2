/** The command says when a step was finished by its fallback, and names a missing key once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { file, pathInFolder } from '../../cli/run-support.ts'
import { type OpenAiServer, openAiServer } from '../../models/openai-server.ts'
import { proviso, runCommand } from '../../support.ts'

let server: OpenAiServer
beforeAll(async () => {
  server = await openAiServer(({ body }) =>
    body['model'] === 'first' ? { text: "I'm sorry, I can't." } : { text: '{"title": "Tea"}' },
  )
})
afterAll(() => server.close())

const schema = '{ type: object, required: [title], properties: { title: { type: string } } }'
const pipeline = (first: string, spare: string) => `name: demo
agents:
  first: { model: ${first}, output_schema: ${schema} }
  spare: { model: ${spare}, output_schema: ${schema} }
steps:
  - { name: find, agent: first, input: A title, fallback: { agent: spare } }
  - { name: again, agent: spare, input: Another }
`

it('run and show name the fallback that answered', async () => {
  const store = `sqlite:${pathInFolder('fallback.db')}`
  const env = { PROVISO_COMPATIBLE_BASE_URL: server.url, PROVISO_COMPATIBLE_API_KEY: 'k' }
  const path = file('fallback.yaml', pipeline('compatible/first', 'compatible/spare'))
  const done = await proviso(['run', path, '--store', store], { env })
  expect(done.code).toBe(0)
  expect(done.stderr).toMatch(
    /find \(find\.fallback\) completed.*answered by the fallback demo\/agents\.spare/,
  )
  expect(done.stderr).not.toMatch(/again completed.*fallback/)
  const [run] = JSON.parse((await runCommand(['runs', '--store', store, '--json'])).stdout)
  const shown = await runCommand(['show', run.runId, '--store', store])
  expect(shown.stdout).toMatch(/find\.fallback +completed +demo\/agents\.spare \(fallback\)/)
})

it('one missing key is one finding', async () => {
  const path = file('keyless.yaml', pipeline('openai/gpt-5-mini', 'openai/gpt-5-mini'))
  const done = await proviso(['run', path], { env: {} })
  expect(done.code).toBe(3)
  expect(done.stderr.match(/✗/g)).toHaveLength(1)
  expect(done.stderr).toContain('the capabilities of "again", "find" are active')
  expect(done.stderr).toContain('Set OPENAI_API_KEY')
  expect(done.stderr).not.toContain('proviso.pipeline.')
})
