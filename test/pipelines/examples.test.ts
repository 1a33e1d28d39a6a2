/** The pipelines under `examples/` are true: each loads, is proved and runs offline; together they show every knob. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createApp, type DefinedCapability, type Json } from '../../src/index.ts'
import {
  arosTable,
  compilePipeline,
  describeSourceIssue,
  loadPipeline,
  pipelineSchema,
  readYaml,
  resolveConfig,
} from '../../src/pipeline/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { writtenProcessing } from '../seams/domain.ts'
import { stepSchemas } from '../seams/pipeline.ts'
import { compileSchema } from '../seams/schema.ts'

const folder = join(import.meta.dirname, '../../examples/pipelines')
const inputs: Record<string, Json> = {
  'agents.yaml': { topic: 'tea' },
  'blocks.yaml': { topics: ['green tea', 'black tea'], style: 'short' },
}
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

async function start(name: string) {
  const loaded = await loadPipeline(join(folder, name))
  if (!loaded.ok) throw new Error(loaded.issues.map(describeSourceIssue).join('\n'))
  const settings = await resolveConfig({ cwd: folder })
  if (!settings.ok) throw new Error('settings')
  const compiled = compilePipeline(loaded.pipeline, {
    input: inputs[name] ?? 'tea',
    aros: settings.config.aros,
  })
  if (!compiled.ok) throw new Error(compiled.issues.map(describeSourceIssue).join('\n'))
  const { envelope, draft, capabilities } = compiled.compiled
  const app = await createApp({
    env: {},
    providers: [rehearsal()],
    capabilities: [...capabilities] as DefinedCapability[],
  })
  return { app, result: await app.run(envelope, { draft }) }
}

describe('examples/pipelines', () => {
  it.each(files)('%s runs', async (name) => {
    const { app, result } = await start(name)
    expect(result.issues).toEqual([])
    expect(['completed', 'waiting']).toContain(result.status)
    if (result.status === 'waiting') expect(name).toBe('approval.yaml')
    await app.close()
  })

  it.each(files)('%s satisfies the schema for editors', (name) => {
    const read = readYaml(readFileSync(join(folder, name)), name)
    expect(read.ok && compileSchema(pipelineSchema()).validate(read.document.value)).toEqual([])
  })

  it('shows every key that a pipeline and its settings may have', () => {
    const text = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
    const keys = new Set<string>()
    const gather = (schema: unknown) => {
      const { properties = {} } = schema as { properties?: Record<string, unknown> }
      for (const [key, inside] of Object.entries(properties)) {
        keys.add(key)
        gather(inside)
      }
    }
    for (const schema of [writtenProcessing, ...Object.values(stepSchemas)]) gather(schema)
    // Conversions by target type are listed in the reference; a few spellings of one limit are enough.
    const otherKeys = [
      'string',
      'array',
      'object',
      'null',
      'meta',
      'contract_version',
      'max_duration_ms',
      'no_network_access',
      'total_tokens_limit',
      'total_cost_usd_limit',
      'max_cost_usd',
      'max_calls',
      'output_schema',
    ]
    const absent = [...keys].filter(
      (key) => !otherKeys.includes(key) && !new RegExp(`\\b${key}\\b`).test(text),
    )
    expect(absent).toEqual([])
    const settings = readFileSync(join(folder, 'proviso.toml'), 'utf8')
    expect(Object.keys(arosTable).filter((key) => !settings.includes(key.split('.').at(-1) ?? ''))).toEqual(
      [],
    )
  })
})
