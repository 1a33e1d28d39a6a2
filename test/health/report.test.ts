/** What a health report says, word for word (golden files), and that it counts what happened and nothing else. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { describeHealth } from '../seams/cli.ts'
import { type HealthQuery, healthCsv, healthReport, surveyHealth } from '../seams/health.ts'
import { addAilments, addRun, asked, now, read } from './runs.ts'

const plain = { bold: (text: string) => text, dim: (text: string) => text }
const golden = (name: string) => `golden/${name}`

/** JSON with one line for each member and row, so that a difference in a golden file can be read. */
function toRows(value: unknown, indent = ''): string {
  const isTable = Array.isArray(value) && value.length > 0
  if (indent.length > 2 && !isTable) return JSON.stringify(value)
  const parts = isTable
    ? value.map((row) => `${indent}  ${JSON.stringify(row)}`)
    : Object.entries(value as object).map(([key, member]) => {
        const isOpen = Array.isArray(member) ? member.length > 0 : key === 'trend'
        return `${indent}  ${JSON.stringify(key)}: ${isOpen ? toRows(member, `${indent}  `) : JSON.stringify(member)}`
      })
  const [open, close] = isTable ? ['[', ']'] : ['{', '}']
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

/** What a window of time adds to a report; all runs are in the last 24 hours, so the rest is the same without it. */
const ofWindow = ['filters', 'trend', 'recommendations'] as const

function omit(value: object, keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

async function report(query: Partial<HealthQuery> = {}, top?: number) {
  const store = createMemoryStore()
  await addAilments(store)
  return healthReport(await surveyHealth(store, { now, ...query }), top === undefined ? {} : { top })
}

describe('a health report', () => {
  for (const [name, query] of [
    ['all', {}],
    ['step', { nodeId: 'read-invoice' }],
    ['model', { model: 'compatible/llama' }],
    ['nothing', { nodeId: 'nowhere' }],
  ] as const) {
    it(`is the same as ever: ${name}`, async () => {
      const made = JSON.parse(JSON.stringify(await report(query)))
      await expect(`${toRows(made)}\n`).toMatchFileSnapshot(golden(`${name}.data.txt`))
      await expect(`${describeHealth(made, plain)}\n`).toMatchFileSnapshot(golden(`${name}.txt`))
    })
  }

  for (const [name, window, query] of [
    ['trend', { sinceHours: 24, trendBuckets: 6 }, {}],
    ['halves', { sinceHours: 24 }, {}],
    ['odd-buckets', { sinceHours: 24, trendBuckets: 3 }, { nodeId: 'read-invoice' }],
  ] as const) {
    it(`is the same as ever: ${name}`, async () => {
      const made = JSON.parse(JSON.stringify(await report({ ...query, ...window })))
      const whole = JSON.parse(JSON.stringify(await report(query)))
      const { filters, trend, recommendations, ...rest } = made
      expect(rest).toEqual(omit(whole, ofWindow))
      await expect(`${toRows({ filters, trend, recommendations })}\n`).toMatchFileSnapshot(
        golden(`${name}.data.txt`),
      )
      await expect(`${describeHealth(made, plain)}\n`).toMatchFileSnapshot(golden(`${name}.txt`))
    })
  }

  it('has three tables for spreadsheets', async () => {
    const files = healthCsv(await report())
    for (const [part, text] of Object.entries(files))
      await expect(text).toMatchFileSnapshot(golden(`all_${part}.csv`))
  })

  it('lists no more than it is asked for', async () => {
    const { steps, models, transforms } = await report({}, 2)
    expect([steps, models, transforms].map(({ length }) => length)).toEqual([2, 2, 2])
    expect(steps.map(({ name }) => name)).toEqual(['summarise', 'read-invoice'])
  })

  it('counts neither clean reading, nor tries of the reader, nor nodes without a model', async () => {
    const store = createMemoryStore()
    await addRun(store, 'clean', [{ model: 'a/m', trace: [asked] }])
    await addRun(store, 'tried', [
      {
        model: 'a/m',
        trace: [
          ['output.coercion.attempt', { stage: 'semantic', reason: 'str->int' }],
          ['output.coercion.success', { stage: 'semantic', transforms: [] }],
        ],
      },
    ])
    await addRun(store, 'local', [{}])
    const { totals, steps, recommendations } = healthReport(await surveyHealth(store, { now }))
    expect(totals).toMatchObject({ runs: 2, attempts: 2, coercion_total: 0, soe_applied: 1 })
    expect(steps).toMatchObject([{ name: 'write', runs: 2, coercions: 0, per_100_runs: 0 }])
    expect(recommendations).toEqual([])
  })

  it('shows no count of runs for an unknown model', async () => {
    const store = createMemoryStore()
    await addRun(store, 'r', [{ trace: [read('semantic', 'str->int')] }])
    const page = describeHealth(healthReport(await surveyHealth(store, { now })), plain)
    expect(page).toMatch(/^ +\(unknown\) +– +1 +– /m)
  })

  it('derives the second family of counters from the events', async () => {
    expect((await report({ nodeId: 'summarise' })).counters).toEqual({
      'aros.aop.syntactic.success': 12,
      'aros.aop.syntactic.skip': 0,
      'aros.aop.syntactic.fail': 0,
      'aros.aop.coercion.success': 0,
      'aros.aop.coercion.skip': 6,
      'aros.aop.coercion.fail': 0,
    })
  })

  it('has buckets that add up to the whole and halves that do', async () => {
    const { totals, trend } = await report({ sinceHours: 24, trendBuckets: 5 })
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
    expect(sum(trend?.buckets.map(({ coercions }) => coercions) ?? [])).toBe(totals.coercion_total)
    expect(sum(trend?.buckets.map(({ attempts }) => attempts) ?? [])).toBe(totals.attempts)
    expect((trend?.last_half.coercions ?? 0) + (trend?.prev_half.coercions ?? 0)).toBe(totals.coercion_total)
  })

  it('keeps hostile names out of terminals and spreadsheets', async () => {
    const store = createMemoryStore()
    const nodeId = '=HYPERLINK("http://x","y")\u001b[31m\n'
    await addRun(store, 'r', [{ nodeId, model: 'a/m', trace: [read('semantic', 'str->int')] }])
    const made = healthReport(await surveyHealth(store, { now }))
    expect(describeHealth(made, plain)).not.toContain('\u001b')
    expect(healthCsv(made).steps).toContain(`"'=HYPERLINK(""http://x""`)
    expect(made.steps[0]?.name).toBe(nodeId)
  })
})

describe('recommendations', () => {
  /** One step that was changed so many times, by one stage. */
  async function seen(stage: string, times: number, more: { soe?: boolean; hoursAgo?: number } = {}) {
    const store = createMemoryStore()
    for (let index = 0; index < times; index++) {
      const endedAt = now - (more.hoursAgo ?? 1) * 3_600_000
      const trace = [...(more.soe ? [asked] : []), read(stage, 'x')]
      await addRun(store, `r-${index}`, [{ nodeId: 's', model: 'a/m', trace, endedAt }])
    }
    const survey = await surveyHealth(store, { now, sinceHours: 24, trendBuckets: 4 })
    return healthReport(survey).recommendations.map(({ kind, stage: of }) => (of ? `${kind} ${of}` : kind))
  }

  it('come from ten changes on when no call asked for structured output', async () => {
    expect(await seen('custom', 9, { hoursAgo: 20 })).not.toContain('basic')
    expect(await seen('custom', 10, { hoursAgo: 20 })).toContain('basic')
    expect(await seen('custom', 10, { hoursAgo: 20, soe: true })).not.toContain('basic')
  })

  for (const stage of ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']) {
    it(`come from five changes of stage ${stage} on, for the stage and for the worst step and model`, async () => {
      expect(await seen(stage, 4, { hoursAgo: 20 })).toEqual([])
      expect(await seen(stage, 5, { hoursAgo: 20 })).toEqual([
        `targeted ${stage}`,
        `targeted ${stage}`,
        `stage ${stage}`,
      ])
    })
  }

  it('come from a rise of two on: step, model, stage; and from a drift of three on', async () => {
    expect(await seen('semantic', 1)).toEqual([])
    expect(await seen('semantic', 2)).toEqual(['trend', 'trend', 'trend semantic'])
    expect(await seen('semantic', 3)).toEqual(['trend', 'trend', 'trend semantic', 'trend'])
  })

  it('name the step, the model, the place in the value and the change', async () => {
    const { recommendations } = await report({ nodeId: 'read-invoice' })
    expect(recommendations.find(({ kind }) => kind === 'targeted')).toEqual({
      kind: 'targeted',
      step: 'read-invoice',
      model: 'openai/gpt-5-mini',
      pointer: '/items/*/price',
      stage: 'semantic',
      message: 'Step "read-invoice" needs the most changes: 8, of which 8 semantic',
      change:
        'In step "read-invoice" describe /items/*/price in the schema (its type, and an example), or widen its type',
    })
  })
})
