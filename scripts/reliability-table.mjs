// @ts-check
/** The reliability checks T1 to T22 as data: what each shows, the tests of its short form, and the commands of its long form. */

/**
 * @typedef {object} ReliabilityCheck
 * @property {string} id
 * @property {string} shows
 * @property {readonly string[]} tests files of the short form, which `npm test` runs
 * @property {readonly string[]} [long] commands of the long form; absent: `npm run test:long` with the same files
 */

const kill = ['npm run kill -- --store sqlite --kills 700', 'npm run kill -- --store postgres --kills 700']
/** Workers, API, PostgreSQL and Restate at random. */
const killFleet = [
  'npm run kill -- --queue local --store postgres --kills 40',
  'npm run kill -- --queue restate --store postgres --kills 40',
  'npm run kill -- --queue restate --nodes 3 --store postgres --kills 40',
]

/** @type {readonly ReliabilityCheck[]} */
export const reliabilityTable = [
  {
    id: 'T1',
    shows:
      'one durable completion per node, a gapless journal, every promise settled, under simulated faults',
    tests: ['test/sim/sim.test.ts'],
    long: ['npm run sim -- --seeds 100000'],
  },
  {
    id: 'T2',
    shows: 'the simulation detects every inserted defect',
    tests: ['test/sim/sim.test.ts'],
    long: ['npm run sim -- --mutants'],
  },
  {
    id: 'T3',
    shows: 'nothing lost, doubled or hanging after SIGKILL at every boundary, and after restarts',
    tests: ['test/kill/kill.test.ts', 'test/restarts/restarts.test.ts', 'test/processes/keys.test.ts'],
    long: [
      ...kill,
      ...killFleet,
      'npm run restarts -- --store sqlite --restarts 1000',
      'npm run restarts -- --store postgres --restarts 1000',
    ],
  },
  {
    id: 'T4',
    shows: 'prompt recovery',
    tests: ['test/kill/kill.test.ts', 'test/processes/handover.test.ts', 'test/queues/restate.test.ts'],
    long: [...kill, ...killFleet],
  },
  {
    id: 'T5',
    shows: 'clean errors and no lost acknowledgement when storage fails, is full, is replaced or loses power',
    tests: [
      'test/stores/store-faults.test.ts',
      'test/stores/disk-full.test.ts',
      'test/stores/store-trouble.test.ts',
      'test/stores/power/power-loss.test.ts',
      'src/adapters/stores/sqlite/sqlite-faults.test.ts',
    ],
  },
  {
    id: 'T6',
    shows: 'nothing lost when PostgreSQL restarts or the network is cut or half open',
    tests: ['test/stores/postgres-network.test.ts', 'test/kill/kill.test.ts'],
  },
  {
    id: 'T7',
    shows: 'one decision per ask',
    tests: ['test/processes/replies.test.ts', 'test/sim/sim.test.ts'],
  },
  {
    id: 'T8',
    shows: 'streams without gaps and repetitions',
    tests: ['test/streams/reconnect.test.ts', 'test/processes/streams.test.ts'],
  },
  { id: 'T9', shows: 'bounded cost of hostile contracts', tests: ['test/hostile/schemas.test.ts'] },
  {
    id: 'T10',
    shows: 'linear cost of hostile texts, read beside the main loop',
    tests: ['test/hostile/texts.test.ts', 'test/processes/poison.test.ts'],
  },
  { id: 'T11', shows: 'valid JSON untouched', tests: ['test/reader/properties.test.ts'] },
  {
    id: 'T12',
    shows: 'bounded conditions that fail closed',
    tests: ['test/schema/condition-fuzz.test.ts'],
  },
  { id: 'T13', shows: 'bounded cost of YAML and XML', tests: ['test/hostile/files.test.ts'] },
  { id: 'T14', shows: 'rights by role, route and tenant', tests: ['test/server/rights.test.ts'] },
  { id: 'T15', shows: 'no calls to private addresses', tests: ['test/agents/ssrf.test.ts'] },
  {
    id: 'T16',
    shows: 'secrets never leave',
    tests: ['test/journeys/secrets.test.ts', 'test/server/secrets.test.ts'],
  },
  {
    id: 'T17',
    shows: 'a model cannot change the route',
    tests: ['test/plan/model-cannot-route.test.ts', 'test/journeys/untrusted-results.test.ts'],
  },
  {
    id: 'T18',
    shows: 'load: fair between tenants, shed before queues grow, callbacks not read in vain',
    tests: [
      'test/soak/two-tenants.test.ts',
      'test/engine/tenants-in-turn.test.ts',
      'test/processes/callback-flood.test.ts',
    ],
    long: ['npm run bench -- server'],
  },
  {
    id: 'T19',
    shows: 'constant memory over time, under faults and with stalled readers',
    tests: ['test/soak/soak.test.ts'],
    long: ['npm run soak -- --store sqlite', 'npm run soak -- --store postgres --workers 3'],
  },
  {
    id: 'T20',
    shows: 'budgets are never exceeded, also by processes that are killed, and nothing stays reserved',
    tests: ['test/processes/budget.test.ts', 'test/sim/sim.test.ts'],
    long: ['npm run test:long -- test/processes/budget.test.ts'],
  },
  {
    id: 'T21',
    shows: 'journals and stores of earlier versions',
    tests: [
      'test/engine/golden-traces.test.ts',
      'test/stores/upgrade.test.ts',
      'test/stores/processes.test.ts',
    ],
  },
  {
    id: 'T22',
    shows: 'graceful shutdown under load',
    tests: ['test/cli/serve.test.ts', 'test/processes/handover.test.ts'],
  },
]

/** @param {ReliabilityCheck} check */
export function longCommands({ tests, long }) {
  return long ?? [`npm run test:long -- ${tests.join(' ')}`]
}
