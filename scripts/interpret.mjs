// @ts-check
/**
 * `npm run interpret -- [--drafts N] [--seed S] [--json]`: differential test. The engine and an independent interpreter run
 * random drafts and must agree on which nodes ran, how often, with which inputs, and on the output. `--seed S` alone prints
 * one draft with all details. `--mutants` restores known defects in the sources, one at a time, and prints which draft
 * detects each (`--short`: only around the recorded draft; `--mutant NAME`: only that one). Exit code 1 if they
 * disagree, or a mutant is not detected.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { forget, transpileMutant, transpileSim } from './transpile-sim.mjs'

const { values } = parseArgs({
  options: {
    drafts: { type: 'string' },
    seed: { type: 'string' },
    most: { type: 'string', default: '5' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log('Usage: npm run interpret -- [--drafts N] [--seed S] [--most N] [--json]')
  console.log('       npm run interpret -- --mutants [--mutant NAME] [--short] [--drafts N] [--json]')
  process.exit(0)
}
/** Number of drafts that the short form tries from the recorded one on; more than one is needed only after the generator changes. */
const window = 300

if (values.mutants || values.mutant !== undefined) process.exit(await catchMutants())
process.exit(values.seed !== undefined && values.drafts === undefined ? await showOne() : await runMany())

async function runMany() {
  /** @type {typeof import('../test/interpreter/run-cases.ts')} */
  const { runCases } = await load('run-cases')
  const began = performance.now()
  const summary = await runCases({
    from: Number(values.seed ?? 1),
    count: Number(values.drafts ?? 1000),
    mostDisagreeing: Number(values.most),
  })
  const seconds = (performance.now() - began) / 1000
  if (values.json) console.log(JSON.stringify({ ...summary, seconds }))
  else {
    const { cases, rejected, completed, calls, skipped, disagreeing } = summary
    console.log(
      `${cases} drafts in ${seconds.toFixed(1)} s: ${completed} completed, ${rejected} rejected by the prover, ` +
        `${calls} calls, ${skipped} nodes skipped; ${disagreeing.length} disagreements`,
    )
    for (const { seed, differences } of disagreeing)
      console.log(`seed ${seed}:\n  ${differences.join('\n  ')}`)
  }
  return summary.disagreeing.length > 0 ? 1 : 0
}

async function showOne() {
  /** @type {typeof import('../test/interpreter/generate/case.ts')} */
  const { makeCase } = await load('generate/case')
  /** @type {typeof import('../test/interpreter/compare.ts')} */
  const { tryCase } = await load('compare')
  /** @type {typeof import('../test/interpreter/draft.ts')} */
  const { buildDraft, buildEnvelope } = await load('draft')
  const given = makeCase(Number(values.seed))
  const { differences, expected, played } = await tryCase(given)
  const show = (/** @type {string} */ title, /** @type {unknown} */ value) =>
    console.log(`\n# ${title}\n${inspect(value, { depth: 12, breakLength: 140, maxArrayLength: 200 })}`)
  show('case', given)
  show('draft', buildDraft(given))
  show('envelope', buildEnvelope(given))
  show('expected', expected)
  show('calls', played.calls)
  show(
    'journal',
    played.journal.map(({ seq, type, nodeId, payload }) => [
      seq,
      type,
      nodeId,
      type.startsWith('plan_') ? '…' : payload,
    ]),
  )
  show('status', [played.status, played.output, played.failure])
  show('differences', differences)
  return differences.length > 0 ? 1 : 0
}

async function catchMutants() {
  /** @type {typeof import('../test/interpreter/mutants.ts')} */
  const { mutants } = await load('mutants')
  /** @type {{ name: string, seed: number | undefined, difference: string }[]} */
  const caught = []
  for (const mutant of mutants.filter(({ name }) => values.mutant === undefined || values.mutant === name)) {
    const folder = transpileMutant(mutant)
    /** @type {typeof import('../test/interpreter/run-cases.ts')} */
    const { runCases } = await load('run-cases', folder)
    const { disagreeing } = await runCases(
      values.short ? { from: mutant.seed, count: window } : { from: 1, count: Number(values.drafts ?? 2000) },
    )
    forget(folder)
    const found = {
      name: mutant.name,
      seed: disagreeing[0]?.seed,
      difference: disagreeing[0]?.differences[0] ?? '',
    }
    caught.push(found)
    if (!values.json)
      console.log(`${found.seed === undefined ? 'MISSED' : `seed ${found.seed}`}: ${found.name}`)
  }
  const missed = caught.filter(({ seed }) => seed === undefined).map(({ name }) => name)
  if (values.json) console.log(JSON.stringify({ caught, missed }))
  return missed.length > 0 ? 1 : 0
}

/** @param {string} file @param {string} [folder] */
function load(file, folder = transpileSim()) {
  return import(pathToFileURL(join(folder, 'test', 'interpreter', `${file}.js`)).href)
}
