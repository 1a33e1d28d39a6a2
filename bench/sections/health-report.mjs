/** Health reports over a full SQLite file, whole and filtered; the file is filled through the store, as an engine does. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../dist/adapters/stores/sqlite/sqlite.js'
import { median } from '../lib/measure.mjs'
import { ms, table } from '../lib/table.mjs'

const hour = 3_600_000
const start = Date.UTC(2026, 0, 1)
const steps = ['read', 'classify', 'decide', 'write', 'check']
const models = ['openai/gpt-5-mini', 'anthropic/claude', 'compatible/llama']

/** Trace spans of a run of five attempts by models. */
const recordedPerRun = 11

export async function report({ quick }) {
  const load = loadavg()[0].toFixed(1)
  const wanted = quick ? 50_000 : 1_000_000
  const runs = Math.ceil(wanted / recordedPerRun)
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  const path = join(folder, 'health.sqlite')
  try {
    const store = await openSqliteStore({ path, synchronous: 'NORMAL' })
    const filling = performance.now()
    for (let made = 0; made < runs; made += 250) {
      const some = Array.from({ length: Math.min(250, runs - made) }, (_, index) => made + index)
      await Promise.all(some.map((run) => store.create(runOf(run))))
    }
    const filled = performance.now() - filling
    await store.close()
    return {
      load,
      spans: runs * recordedPerRun,
      runs,
      filled,
      megabytes: statSync(path).size / 2 ** 20,
      rows: await ask(path, runs),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each question to a store that was just opened, as the command does. */
async function ask(path, runs) {
  const to = start + runs * 1_000 + 60_000
  const questions = [
    ['everything', { to }],
    ['everything, in 24 parts', { from: start, to, slots: 48 }],
    ['the last hour, in 24 parts', { from: to - hour, to, slots: 48 }],
    ['one step', { to, nodeId: 'classify' }],
    ['one model', { to, model: models[0] }],
    ['one tenant', { to, tenant: 'even' }],
  ]
  const rows = []
  for (const [what, query] of questions) {
    const taken = []
    const worked = []
    let attempts = 0
    for (let turn = 0; turn < 3; turn++) {
      const store = await openSqliteStore({ path, readOnly: true })
      const [began, busy] = [performance.now(), process.cpuUsage()]
      const { groups } = await store.sample(query)
      taken.push(performance.now() - began)
      const { user, system } = process.cpuUsage(busy)
      worked.push((user + system) / 1_000)
      attempts = groups.reduce((sum, group) => sum + group.attempts, 0)
      await store.close()
    }
    rows.push({ what, ms: median(taken), cpu: median(worked), attempts })
  }
  return rows
}

function runOf(run) {
  const at = start + run * 1_000
  const event = (type, payload, nodeId) => ({
    type,
    version: 1,
    at,
    planVersion: 1,
    payload,
    ...(nodeId && { nodeId }),
  })
  const attempt = (nodeId, index) => [
    event(
      'attempt_start',
      { attempt: 1, capabilityId: 'c', idempotencyKey: 'k', idempotent: true, inputs: {} },
      nodeId,
    ),
    ...logsOf(run, index).map(([name, payload]) => event('log', { event: name, payload }, nodeId)),
    event(
      'attempt_end',
      {
        attempt: 1,
        outcome: 'ok',
        issues: [],
        usage: { calls: 1, inputTokens: 300, outputTokens: 80 },
        model: models[(run + index) % 3],
      },
      nodeId,
    ),
    event('node_complete', { output: { value: {} }, attempt: 1 }, nodeId),
  ]
  return {
    runId: `run-${String(run).padStart(9, '0')}`,
    tenant: run % 2 ? 'odd' : 'even',
    events: [...steps.flatMap(attempt), event('complete', { status: 'completed', output: {} })],
    head: { status: 'completed', planVersion: 1 },
  }
}

/** Two of three attempts are clean; the others differ in rules and costs. */
function logsOf(run, index) {
  const events = [['aros.soe.enabled', { mode: 'auto', applied: 'json_schema' }]]
  const luck = (run * 7 + index * 3) % 30
  if (luck < 10) events.push(['output.coercion.success', { stage: 'semantic', transforms: [`rule-${luck}`] }])
  if (luck < 3)
    events.push(
      ['aros.repair.started', { stage: 'llm' }],
      [
        'aros.repair.success',
        { stage: 'llm', input_tokens: run % 997, output_tokens: run % 89, cost_usd: 0.001 },
      ],
    )
  return events
}

export function showReport({ load, spans, runs, filled, megabytes, rows }) {
  return [
    `Load average of the machine before: ${load}.`,
    `${spans.toLocaleString('en')} spans of ${runs.toLocaleString('en')} runs in one SQLite file of ${Math.round(megabytes).toLocaleString('en')} MB, filled in ${Math.round(filled / 1000)} s (\`synchronous=NORMAL\`).`,
    table(
      ['sample of', 'attempts', 'takes', 'processor'],
      rows.map((row) => [row.what, row.attempts.toLocaleString('en'), ms(row.ms), ms(row.cpu)]),
    ),
  ].join('\n\n')
}
