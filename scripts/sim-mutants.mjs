// @ts-check
/** Finds the first seed that detects each mutant: from scratch, or only around the recorded seed. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { forget, transpileMutant, transpileSim } from './transpile-sim.mjs'

/** @typedef {{ name: string, seed: number | undefined, seeds: number, violation: string, seconds: number }} Caught */

/** Number of seeds that the short form tries from the recorded one on; more than one is needed only after the generators change. */
const window = 200

/**
 * @param {{ short: boolean, seeds: number, shard: [number, number], name?: string, onCaught: (caught: Caught) => void }} options
 * @returns {Promise<Caught[]>}
 */
export async function catchMutants({ short, seeds, shard: [nth, of], name, onCaught }) {
  /** @type {typeof import('../test/sim/mutants.ts')} */
  const { mutants } = await load(transpileSim(), 'mutants')
  const all = []
  for (const [index, mutant] of mutants.entries()) {
    if (name === undefined ? index % of !== nth - 1 : mutant.name !== name) continue
    const began = performance.now()
    const folder = transpileMutant(mutant)
    /** @type {typeof import('../test/sim/run-seeds.ts')} */
    const { runSeeds } = await load(folder, 'run-seeds')
    const { failing, histories } = await runSeeds({
      from: short ? mutant.seed : (mutant.from ?? 1),
      count: short ? window : seeds,
    })
    forget(folder)
    const caught = {
      name: mutant.name,
      seed: failing[0]?.seed,
      seeds: histories,
      violation: failing[0]?.violations[0]?.split('\n')[0] ?? '',
      seconds: (performance.now() - began) / 1000,
    }
    all.push(caught)
    onCaught(caught)
  }
  return all
}

/** @param {string} folder @param {string} file */
function load(folder, file) {
  return import(pathToFileURL(join(folder, 'test', 'sim', `${file}.js`)).href)
}
