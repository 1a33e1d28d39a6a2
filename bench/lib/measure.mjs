/** Fair timing on a shared machine: contenders take turns, each is warmed up, the median of the turns counts. */

/**
 * Times contenders against each other in one run.
 * @param contenders functions by name; one that throws is reported as failed
 * @param options `repeats` turns each (default 7), `budget` milliseconds per contender (default 4000)
 * @returns milliseconds by name, or a word that says why there are none
 */
export async function race(contenders, options) {
  const turns = await raceInTurns(contenders, options)
  return Object.fromEntries(
    Object.entries(turns).map(([name, took]) => [name, typeof took === 'string' ? took : median(took)]),
  )
}

/** As `race`, with the milliseconds of every turn: turns of one number ran right after each other. */
export async function raceInTurns(contenders, { repeats = 7, budget = 4000 } = {}) {
  const runs = new Map()
  const result = {}
  for (const [name, run] of Object.entries(contenders)) {
    const first = await time(run)
    if (typeof first === 'string') result[name] = first
    else runs.set(name, { run, batch: 1, times: [], spent: 0, warm: first > 200 ? first : await warmUp(run) })
  }
  // Small tasks are repeated inside one turn, so that the clock can see them.
  for (const entry of runs.values()) entry.batch = Math.max(1, Math.ceil(20 / Math.max(entry.warm, 0.001)))
  // Once, not before every turn: a collection also shrinks the young heap, and the next run would pay for growing it.
  globalThis.gc?.()
  for (let i = 0; i < repeats; i++) {
    for (const entry of runs.values()) if (i === 0 || entry.spent < budget) await turn(entry)
  }
  for (const [name, entry] of runs) result[name] = entry.times
  return result
}

/** How many times as long one takes as another: the median over turns, so that a machine that changes its pace does not count. */
export function ratioInTurns(one, other) {
  if (typeof one === 'string' || typeof other === 'string') return undefined
  return median(one.slice(0, other.length).map((took, turn) => took / other[turn]))
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Milliseconds of processor time that one run takes, collecting and compiling included and the work of others not. */
export function cpuTime(run) {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The fastest of several runs: what the code can do on a quiet machine. */
export async function fastest(run, repeats) {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < repeats; i++) {
    const once = await time(run)
    if (typeof once === 'string') return once
    best = Math.min(best, once)
    // What takes long is not disturbed much by the machine.
    if (best > 400) break
  }
  return best
}

/** True when the growth so far says that the next size would take longer than the limit. */
export function wouldTakeTooLong(times, sizes, next, limit = 10_000) {
  if (times.at(-1) === 'too slow') return true
  const known = times.flatMap((time, i) => (typeof time === 'number' ? [[time, sizes[i]]] : []))
  const [last, size] = known.at(-1) ?? [0, 1]
  const [before, sizeBefore] = known.at(-2) ?? [last, size]
  const power = sizeBefore < size && before > 0 ? Math.log(last / before) / Math.log(size / sizeBefore) : 1
  return last * (next / size) ** Math.min(Math.max(power, 1) + 0.2, 3) > limit
}

/** Runs until the engine has had a chance to compile it well; the milliseconds of the last run. */
async function warmUp(run) {
  // Processor time here too: on a busy machine a second of the clock warms up nothing.
  const start = process.cpuUsage()
  let last = 0
  for (let i = 0; i < 5000 && process.cpuUsage(start).user < 1_500_000; i++) last = await time(run)
  return last
}

async function turn(entry) {
  // Processor time: what others do on the machine is not in it.
  const start = process.cpuUsage()
  for (let i = 0; i < entry.batch; i++) {
    const out = entry.run()
    if (out instanceof Promise) await out
  }
  const { user, system } = process.cpuUsage(start)
  const took = (user + system) / 1000
  entry.spent += took
  entry.times.push(took / entry.batch)
}

async function time(run) {
  const start = performance.now()
  try {
    const out = run()
    if (out instanceof Promise) await out
  } catch (error) {
    return error instanceof RangeError ? 'stack overflow' : 'error'
  }
  return performance.now() - start
}
