/** (e) Success: the noise corpus and, where they are present, the suites of other projects, for the reader and every peer. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '../../dist/output/index.js'
import {
  DAMAGES,
  familyCorpus,
  judge,
  NOISE_FAMILIES,
  NOISE_SCHEMAS,
  noiseCorpus,
  sameJson,
} from '../../dist/testing/index.js'
import { readWithBaml, withoutNulls } from '../lib/baml.mjs'
import { extract, peers, validator } from '../lib/peers.mjs'
import { percent, table } from '../lib/table.mjs'

const SEED = 77

export async function success({ quick }) {
  const samples = [
    ...noiseCorpus({ seed: SEED, count: quick ? 500 : 3000 }),
    ...noiseCorpus({ seed: SEED, count: quick ? 150 : 1000, combine: true }),
  ]
  const rows = [
    tally(
      'proviso',
      samples,
      samples.map(({ text, schema }) => attempt(() => parse(text, schema))),
    ),
  ]
  const baml = await readWithBaml(samples, NOISE_SCHEMAS)
  if (baml) {
    const fair = samples.map((sample) =>
      'lost' in sample.outcome
        ? sample
        : { ...sample, outcome: { expected: withoutNulls(sample.schema, sample.outcome.expected) } },
    )
    const answers = baml.map((one, i) => {
      const value = one.ok ? withoutNulls(samples[i].schema, one.value) : undefined
      return one.ok && validator(samples[i].schema)(value) ? { ok: true, value } : { ...one, ok: false }
    })
    rows.push(tally('BAML 0.226.2', fair, answers))
  }
  for (const [name, read] of Object.entries(peers)) {
    for (const [suffix, prepare] of [
      ['', (text) => text],
      [' after extraction', extract],
    ]) {
      const answers = []
      for (const { text, schema } of samples) answers.push(await answer(read, prepare(text), schema))
      rows.push(tally(name + suffix, samples, answers))
    }
  }
  const corpus = { seed: SEED, samples: samples.length, kinds: DAMAGES.length, schemas: NOISE_SCHEMAS.length }
  return { name: 'success', corpus, rows, families: families(quick ? 100 : 1000), suites: await suites() }
}

/** Texts that need several abilities at once, family by family. */
function families(count) {
  const samples = [...familyCorpus({ seed: SEED, count })]
  return NOISE_FAMILIES.map(({ name }) => {
    const own = samples.filter(({ family }) => family === name)
    const answers = own.map(({ text, schema, options }) => attempt(() => parse(text, schema, options)))
    return tally(name, own, answers)
  })
}

async function answer(read, text, schema) {
  try {
    const value = await read(text)
    return value !== undefined && (schema === null || validator(schema)(value))
      ? { ok: true, value }
      : { ok: false }
  } catch {
    return { ok: false }
  }
}

function attempt(run) {
  try {
    return run()
  } catch {
    return { ok: false }
  }
}

function tally(name, samples, answers) {
  const row = { name, recoverable: 0, right: 0, wrong: 0, refused: 0, lost: 0, invented: 0, crashed: 0 }
  samples.forEach((sample, i) => {
    const { verdict } = judge(sample, () => answers[i])
    if ('lost' in sample.outcome) {
      row.lost += 1
      if (verdict === 'invented') row.invented += 1
    } else {
      row.recoverable += 1
      row[verdict] += 1
    }
    if (answers[i].crashed) row.crashed += 1
  })
  return row
}

/** Agreement with suites in the folder `PROVISO_CASES`, as they are, without regard to policies. */
async function suites() {
  const folder = process.env.PROVISO_CASES
  if (!folder || !existsSync(folder)) return []
  const rows = []
  for (const file of readdirSync(folder)
    .filter((one) => one.endsWith('.jsonl'))
    .sort()) {
    const cases = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    const agrees = (one, got) => (one.expectReject ? !got.ok : got.ok && sameJson(got.value, one.expected))
    const row = { suite: file.replace('.jsonl', ''), cases: cases.length, agree: {} }
    row.agree.proviso = cases.filter((one) =>
      agrees(
        one,
        attempt(() => parse(one.input, one.schema ?? undefined, { acceptTruncated: true })),
      ),
    ).length
    for (const [name, read] of Object.entries(peers)) {
      let count = 0
      for (const one of cases) if (agrees(one, await answer(read, one.input, one.schema))) count += 1
      row.agree[name] = count
    }
    rows.push(row)
  }
  return rows
}

function showFamilies(rows) {
  return table(
    ['noise of families', 'texts', 'right', 'silently wrong', 'refused', 'invented without an answer'],
    rows.map((row) => [
      row.name,
      row.recoverable,
      percent(row.right, row.recoverable),
      percent(row.wrong, row.recoverable),
      percent(row.refused, row.recoverable),
      `${row.invented} of ${row.lost}`,
    ]),
  )
}

export function showSuccess({ corpus, rows, families: familyRows, suites: found }) {
  const intro = `Noise: ${corpus.samples} samples of ${corpus.kinds} kinds over ${corpus.schemas} schemas, seed ${corpus.seed}.`
  const noise = `${intro}\n\n${table(
    ['noise corpus', 'right', 'silently wrong', 'refused', 'invented where lost', 'crashes'],
    rows.map((row) => [
      row.name,
      percent(row.right, row.recoverable),
      percent(row.wrong, row.recoverable),
      percent(row.refused, row.recoverable),
      `${row.invented} of ${row.lost}`,
      row.crashed,
    ]),
  )}\n\n${showFamilies(familyRows)}`
  if (found.length === 0) return noise
  const names = Object.keys(found[0].agree)
  const agreement = table(
    ['agreement with the suites as they are', ...found.map((row) => `${row.suite} (${row.cases})`)],
    names.map((name) => [name, ...found.map((row) => percent(row.agree[name], row.cases))]),
  )
  return `${noise}\n\n${agreement}`
}
