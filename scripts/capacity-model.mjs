// @ts-check
/** The capacity model of docs/scaling.md: pure functions from figures of one machine and a wanted load to what the load needs. */

/**
 * What `npm run bench -- scale --json` measures; replace it with the figures of your machine.
 * @typedef {object} Measured
 * @property {number} nodes nodes of the measured run
 * @property {number} nodeCpuMs processor time per node, of workers and API together
 * @property {number} serverMs processor time of PostgreSQL per run
 * @property {number} storedBytes tables and indexes per run
 * @property {number} walBytes write-ahead log per run
 * @property {number} rows rows per run
 * @property {number} commits commits per run
 */

/**
 * What is assumed and not measured: read them before you trust a result.
 * @typedef {object} Assumed
 * @property {number} peak load of the busiest hour compared with the average
 * @property {number} use share of a core that may be used at the peak
 * @property {number} callSeconds how long one attempt waits for its model or agent
 * @property {number} parallel attempts of a run at one time, on average
 * @property {number} keepDays how long finished runs are kept
 * @property {number} walMbPerSecond write-ahead log that one PostgreSQL sustains
 * @property {number} commitsPerSecond commits that one PostgreSQL sustains
 * @property {number} serverCores cores of one PostgreSQL
 * @property {number} storedTb storage of one PostgreSQL, with backups and vacuum still manageable
 * @property {number} attemptsPerProcess attempts at once in one process
 */

/** @type {Assumed} */
export const assumed = {
  peak: 3,
  use: 0.6,
  callSeconds: 3,
  parallel: 1.5,
  keepDays: 30,
  walMbPerSecond: 50,
  commitsPerSecond: 5_000,
  serverCores: 16,
  storedTb: 4,
  attemptsPerProcess: 1_000,
}

const secondsPerDay = 86_400
const mb = 1024 * 1024

/**
 * @param {{ readonly runsPerDay: number, readonly nodes: number }} load
 * @param {Measured} measured
 * @param {Assumed} given
 */
export function plan({ runsPerDay, nodes }, measured, given = assumed) {
  const scale = nodes / measured.nodes
  const average = runsPerDay / secondsPerDay
  const peak = average * given.peak
  const cores = (peak * nodes * measured.nodeCpuMs) / 1_000 / given.use
  const attempts = peak * nodes * given.callSeconds
  const bound = {
    processor: Math.ceil(cores),
    attempts: Math.ceil(attempts / given.attemptsPerProcess),
  }
  const database = {
    cores: (peak * measured.serverMs * scale) / 1_000 / given.use,
    walMbPerSecond: (peak * measured.walBytes * scale) / mb,
    commitsPerSecond: peak * measured.commits * scale,
    storedTb: (runsPerDay * given.keepDays * measured.storedBytes * scale) / mb / mb,
    rowsPerDay: runsPerDay * measured.rows * scale,
  }
  const share = {
    cores: database.cores / given.serverCores,
    walMbPerSecond: database.walMbPerSecond / given.walMbPerSecond,
    commitsPerSecond: database.commitsPerSecond / given.commitsPerSecond,
    storedTb: database.storedTb / given.storedTb,
  }
  const [limit] = Object.entries(share).sort(([, one], [, other]) => other - one)[0] ?? ['cores']
  return {
    runsPerSecond: { average, peak },
    nodesPerSecond: peak * nodes,
    active: (peak * nodes * given.callSeconds) / given.parallel,
    cores,
    processes: Math.max(bound.processor, bound.attempts, 2),
    database,
    limit,
    databases: Math.max(1, Math.ceil(Math.max(...Object.values(share)))),
  }
}

/**
 * Simulates a queue of runs before processes, each of which works on one thread: Poisson arrivals, the measured processor
 * time per run with exponential variation. At `crashAt` (in seconds) one process dies, and the others do its work; what it had
 * begun waits for the lease besides, which is not in these figures.
 * @param {{ readonly arrivals: number, readonly processes: number, readonly workMs: number, readonly seconds: number, readonly seed?: number, readonly crashAt?: number }} given
 */
export function simulate({ arrivals, processes, workMs, seconds, seed = 1, crashAt }) {
  const random = mulberry(seed)
  const exponential = (/** @type {number} */ mean) => -mean * Math.log(1 - random())
  /** When each process is free again, in milliseconds. */
  let free = new Array(processes).fill(0)
  /** @type {number[]} */
  const waits = []
  let [now, busy, isCrashed] = [0, 0, false]
  while (now < seconds * 1_000) {
    now += exponential(1_000 / arrivals)
    if (crashAt !== undefined && !isCrashed && now >= crashAt * 1_000) {
      isCrashed = true
      const [dead = 0, ...rest] = free.sort((one, other) => one - other)
      const left = Math.max(0, dead - now)
      free = rest.map((at) => Math.max(at, now) + left / Math.max(1, rest.length))
    }
    let first = 0
    for (let nth = 1; nth < free.length; nth++) if (free[nth] < free[first]) first = nth
    const work = exponential(workMs)
    const begins = Math.max(now, free[first])
    free[first] = begins + work
    busy += work
    waits.push(begins - now)
  }
  waits.sort((one, other) => one - other)
  const at = (/** @type {number} */ part) =>
    waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? 0
  return {
    runs: waits.length,
    waitMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    use: busy / (seconds * 1_000 * processes),
  }
}

/** A small random source, so that everybody gets the same figures. @param {number} seed */
function mulberry(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
