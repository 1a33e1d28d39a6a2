/** The same agent with three libraries, killed between a call and its record, and started again: what happens in the world. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { report, serveModel } from '../agents/scripted-model.mjs'
import { table } from '../lib/table.mjs'

const program = fileURLToPath(new URL('../agents/child.mjs', import.meta.url))
const examples = new URL('../../examples/research-agent/', import.meta.url)

const libraries = [
  ['proviso', 'proviso'],
  ['ai-sdk', 'AI SDK 6.0.326'],
  ['langgraph', 'LangGraph 1.4.18'],
]

const points = [
  [undefined, 'never'],
  ['search', 'after the search'],
  ['ask', 'while a person is asked'],
  ['send', 'after the message was sent'],
]

/** @param {{ only?: readonly string[] }} options libraries to run; default: all */
export async function killed({ only } = {}) {
  const rows = []
  for (const [library, name] of libraries) {
    if (only && !only.includes(library)) continue
    for (const [killAt, when] of points) rows.push({ name, when, ...(await live(library, killAt)) })
  }
  return { rows, lines: Object.fromEntries(libraries.map(([library, name]) => [name, countLines(library)])) }
}

async function live(library, killAt) {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-killed-'))
  const model = await serveModel()
  try {
    const given = { library, folder, baseURL: model.url, killAt }
    let done = await runChild(given)
    const isKilled = done.signal === 'SIGKILL'
    if (isKilled) done = await runChild(given)
    if (isKilled !== (killAt !== undefined) || done.code !== 0)
      return { failed: done.stderr || String(done.signal) }
    const file = join(folder, 'world.log')
    const world = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    const count = (what) => world.filter((line) => line === what).length
    return {
      searched: count('search'),
      sent: count('send'),
      asked: count('ask'),
      doubts: count('doubt'),
      requests: model.seen.length,
      isRight: done.stdout === JSON.stringify(report),
    }
  } finally {
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function runChild(given) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(given)])
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

/** Lines of code of an example, without comments and empty lines. */
function countLines(library) {
  const text = readFileSync(new URL(`${library}.mjs`, examples), 'utf8')
  return text.split('\n').filter((line) => line.trim() !== '' && !/^\s*(\/\*\*|\/\/|\*)/.test(line)).length
}

export function showKilled({ rows, lines }) {
  const head = [
    'library',
    'killed',
    'searched',
    'sent',
    'approvals asked',
    'asked in doubt',
    'model requests',
  ]
  const shown = rows.map((row) =>
    row.failed === undefined
      ? [row.name, row.when, row.searched, row.sent, row.asked, row.doubts, row.requests]
      : [row.name, row.when, 'does not run', '', '', '', ''],
  )
  const sizes = Object.entries(lines).map(([name, count]) => `${name} ${count}`)
  const failed = rows.flatMap(({ name, when, failed }) =>
    failed === undefined
      ? []
      : [`- ${name}, killed ${when}: ${failed.split('\n').find((line) => /rror/.test(line)) ?? failed}`],
  )
  return [table(head, shown), `Lines of code: ${sizes.join(', ')}.`, ...failed].join('\n\n')
}
