/**
 * What a seed stands for: the plans, the people, the processes and what goes wrong. `exact` scenarios hold only what does
 * not depend on who was faster (nothing runs out: no budget, no deadline, no expiry; no person interferes at a time of their
 * own; policies only pause, ask and notify), so that a run must end exactly as it would without any fault. In the others
 * time decides legitimately, and only the invariants are asked.
 */
import type { Envelope } from '../../src/domain/envelope.ts'
import type { Draft, DraftNode, Limits } from '../../src/domain/plan.ts'
import type { Action, RuntimePolicy, Trigger } from '../../src/domain/policy.ts'
import type { CircuitOptions } from '../../src/engine/limits/circuits.ts'
import type { FleetRules } from '../../src/engine/limits/limit-rules.ts'
import type { AnswerRates } from './answers.ts'
import type { CapabilityName } from './catalog.ts'
import { answerSchema, doubtfulDraft, iterated, mostNodes, randomDraft } from './drafts.ts'
import { type FaultRates, noFaults } from './faults.ts'
import { type Random, randomFor } from './random.ts'
import { withReaders } from './readers.ts'

export interface RunScenario {
  readonly runId: string
  readonly envelope: Envelope
  readonly draft: Draft
  /** The draft is submitted with the envelope; else a planner makes it. */
  readonly handed: boolean
  /** Milliseconds after the start. */
  readonly startAt: number
  readonly cancelAt?: number
  readonly triggers: readonly { readonly at: number; readonly policyId: string }[]
}

export interface Scenario {
  readonly seed: number
  readonly exact: boolean
  readonly processes: number
  readonly skews: readonly number[]
  /** A process that starts again has the name it had. */
  readonly sameOwner: boolean
  readonly serialised: boolean
  readonly latencyMs: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly askMs: number
  /** Attempts of one process at one time. */
  readonly slots: number
  /** Attempts at one time of all processes, and circuits of capabilities that are not available. */
  readonly limits?: { readonly fleet: FleetRules; readonly circuits: CircuitOptions | false }
  readonly operators: number
  /** How often the planner fails, of its first two drafts. */
  readonly plannerFails: number
  readonly answers: AnswerRates
  readonly faults: FaultRates
  readonly runs: readonly RunScenario[]
}

export function drawScenario(seed: number): Scenario {
  return withLimits(withDoubts(withoutFaults(drawMost(seed))))
}

/** In all histories from this seed on, the processes share limits. */
export const firstLimitSeed = 3_000_000

function withLimits(scenario: Scenario): Scenario {
  const { seed, exact } = scenario
  if (seed < firstLimitSeed) return scenario
  const random = randomFor(seed, 'limits')
  const atOnce = () => ({ concurrency: random.between(1, 3) })
  const fleet: FleetRules = {
    capabilities: random.chance(0.8) ? { work: atOnce(), '*': atOnce() } : { effect: atOnce() },
    ...(random.chance(0.4) && { tenants: { default: { concurrency: random.between(2, 4) } } }),
  }
  // An attempt that waits too long for a circuit fails: in histories that end as without faults, it waits.
  const circuits = random.chance(0.5)
    ? { failures: random.between(1, 3), openMs: 500, waitMs: exact ? 3_600_000 : random.pick([300, 5_000]) }
    : false
  return { ...scenario, slots: 64, limits: { fleet, circuits } }
}

/** In some histories, calls that must not be repeated fail while others bring untrusted content. */
function withDoubts(scenario: Scenario): Scenario {
  const { seed, exact, answers, runs } = scenario
  if (exact || seed % 5 !== 3) return scenario
  const random = randomFor(seed, 'doubts')
  const doubtful = (run: RunScenario): RunScenario => {
    const { planner, runtime } = run.envelope.policies
    const { sideEffects: _, ...directives } = planner.directives ?? {}
    const draft = doubtfulDraft(random.between(2, 6), answers.hangs)
    return {
      ...run,
      draft,
      envelope: { ...run.envelope, policies: { planner: { ...planner, directives }, runtime } },
    }
  }
  return {
    ...scenario,
    slots: 64,
    askMs: 3_600_000,
    answers: { ...answers, failures: 0.5 },
    runs: runs.map(doubtful),
  }
}

/**
 * In some histories nothing goes wrong, and processes learn of each other by polling only: cancellations and timers must be
 * on time while calls are under way.
 */
function withoutFaults(scenario: Scenario): Scenario {
  const { seed, exact, runs } = scenario
  if (exact || seed % 10 !== 7) return scenario
  const random = randomFor(seed, 'without faults')
  return {
    ...scenario,
    processes: 2,
    skews: [0, 0],
    latencyMs: 5,
    leaseMs: 900,
    pollMs: 300,
    answers: { ...scenario.answers, pace: 'slow' },
    faults: { ...noFaults, deaf: 1 },
    // Not both: a timer wakes the process that a cancellation has to reach.
    runs: runs.map((run) =>
      seed % 20 === 17 ? withTimeouts(random, run) : { ...run, cancelAt: random.int(2000) },
    ),
  }
}

function drawMost(seed: number): Scenario {
  const random = randomFor(seed, 'scenario')
  const exact = random.chance(0.5)
  const theme = random.pick(exact ? exactThemes : themes)
  const leaseMs = random.pick([900, 1500, 3000])
  const hangs = random.chance(0.15)
  const asks = randomFor(seed, 'asks first').chance(0.1)
  const answers: AnswerRates = {
    failures: random.pick([0, 0.2, 0.5]),
    hangs,
    onceFails: !exact,
    asks,
    uncounted: theme === 'budget' ? random.pick([0, 0.5]) : 0,
    ...(theme === 'bursts' && { pace: 'quick' }),
  }
  const processes = random.pick([1, 2, 2, 3])
  const skewed = random.chance(0.2)
  return {
    seed,
    exact,
    processes,
    skews: Array.from({ length: processes }, () => (skewed ? random.between(-150, 150) : 0)),
    sameOwner: random.chance(0.5),
    serialised: random.chance(0.1),
    latencyMs: random.pick([5, 30, 300]),
    leaseMs,
    pollMs: random.pick([300, 1000]),
    askMs: exact ? 3_600_000 : random.pick([500, 3000, 3_600_000]),
    slots: random.pick([1, 2, 64]),
    operators: theme === 'bursts' ? 8 : random.between(1, 3),
    plannerFails: theme === 'planning' ? 0.6 : 0.2,
    answers,
    faults: {
      ...randomFaults(random, leaseMs, theme),
      overtaken: randomFor(seed, 'overtaken').pick([0, 0.1, 0.4]),
    },
    runs: withTimeoutsIn(
      seed,
      exact,
      withToolAgents(
        seed,
        withIterations(
          seed,
          withCouriers(
            seed,
            withReadersIn(
              seed,
              Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, (_, index) =>
                randomRun(random, { runId: `run-${index}`, exact, hangs, theme }),
              ),
            ),
          ),
        ),
      ),
    ),
  }
}

/** In all histories from this seed on, agents with tools do most of the plain work. */
export const firstLoopSeed = 1_000_000

/** From this one on, these agents call and follow others. */
export const firstNestedSeed = 2_000_000

function withToolAgents(seed: number, runs: readonly RunScenario[]): readonly RunScenario[] {
  if (seed < firstLoopSeed || seed >= firstLimitSeed) return runs
  const random = randomFor(seed, 'tool agents')
  const agent = seed < firstNestedSeed ? 'researcher' : 'leader'
  const change = (node: DraftNode): DraftNode => ({
    ...node,
    ...(node.capabilityId === 'work' && random.chance(0.7) && { capabilityId: agent }),
    ...(node.body && { body: { ...node.body, nodes: node.body.nodes.map(change) } }),
  })
  return runs.map((run) => ({ ...run, draft: { ...run.draft, nodes: run.draft.nodes.map(change) } }))
}

/** In some histories, nodes without control edges read from nodes inside and across branches. */
function withReadersIn(seed: number, runs: readonly RunScenario[]): readonly RunScenario[] {
  if (![4, 9, 11, 13, 15].includes(seed % 17)) return runs
  const random = randomFor(seed, 'readers')
  return runs.map((run) => ({ ...run, draft: withReaders(random, run.draft) }))
}

/** In some histories, part of the plain work is done by agents that answer later. */
function withCouriers(seed: number, runs: readonly RunScenario[]): readonly RunScenario[] {
  if (seed % 13 !== 5 && seed % 13 !== 6) return runs
  const random = randomFor(seed, 'couriers')
  const delegateNode = (node: DraftNode): DraftNode =>
    node.capabilityId === 'work' && random.chance(0.7)
      ? { ...node, capabilityId: random.pick(['courier', 'careful']) }
      : node
  return runs.map((run) => ({ ...run, draft: { ...run.draft, nodes: run.draft.nodes.map(delegateNode) } }))
}

/** In some histories, several timers are due while calls are under way, or while no process is there. */
function withTimeoutsIn(seed: number, exact: boolean, runs: readonly RunScenario[]): readonly RunScenario[] {
  if (exact || seed % 6 !== 2) return runs
  const random = randomFor(seed, 'timeouts')
  return runs.map((run) => withTimeouts(random, run))
}

function withTimeouts(random: Random, run: RunScenario): RunScenario {
  const { policies } = run.envelope
  const timeouts = Array.from(
    { length: 4 },
    (_, index): RuntimePolicy => ({
      id: `timeout-${index}`,
      enabled: true,
      trigger: { kind: 'onTimeout', ms: random.between(100, 4000) },
      action: { type: 'emit', event: 'late' },
    }),
  )
  return {
    ...run,
    envelope: { ...run.envelope, policies: { ...policies, runtime: [...policies.runtime, ...timeouts] } },
  }
}

/** In some histories, part of the work is done round by round, or for each item of a list. */
function withIterations(seed: number, runs: readonly RunScenario[]): readonly RunScenario[] {
  if (seed % 7 !== 2 && seed % 7 !== 4) return runs
  const random = randomFor(seed, 'iterations')
  const iterate = (node: DraftNode): DraftNode =>
    node.capabilityId !== undefined && random.chance(0.5) ? iterated(random, node) : node
  return runs.map((run) => ({ ...run, draft: { ...run.draft, nodes: run.draft.nodes.map(iterate) } }))
}

type FaultKind = 'none' | 'crashes' | 'errors' | 'stalls' | 'all'
const faultKinds: readonly FaultKind[] = ['none', 'crashes', 'crashes', 'errors', 'stalls', 'all', 'all']
/** Where another mix shows more: a draft is written once, and without faults every doubt has a reason. */
const faultKindsOf: { readonly [theme in Theme]?: readonly FaultKind[] } = {
  planning: ['errors', 'errors', 'all'],
  bursts: ['none', 'none', 'none', 'all'],
}

function randomFaults(random: Random, leaseMs: number, theme: Theme): Omit<FaultRates, 'overtaken'> {
  const kind = random.pick(faultKindsOf[theme] ?? faultKinds)
  const has = (name: FaultKind) => kind === name || kind === 'all'
  return {
    crash: has('crashes') ? random.pick([0.005, 0.02, 0.06]) : 0,
    error: has('errors') ? random.pick(theme === 'planning' ? [0.05, 0.2] : [0.01, 0.05]) : 0,
    stalls: has('stalls') ? random.pick([0.2, 0.6]) : 0,
    linger: has('stalls') ? random.pick([0, 0.01, 0.04]) : 0,
    deaf: random.pick([0, 1, 0.5]),
    until: kind === 'none' ? 0 : random.pick([2, 5]) * leaseMs,
    mostCrashes: 8,
  }
}

const usual: readonly CapabilityName[] = ['work', 'work', 'work', 'model', 'checked', 'costly']
const special: readonly CapabilityName[] = ['effect', 'once', 'undeclared', 'person']

/** What most of a history is about: rare things meet each other only where they are not rare. */
type Theme =
  | 'mixed'
  | 'effects'
  | 'policies'
  | 'replans'
  /** Little may be spent, and what was used is not always known. */
  | 'budget'
  /** Drafts come from a planner that often fails, and a store that often does not answer. */
  | 'planning'
  /** Results, replies and triggers arrive at the same moment. */
  | 'bursts'
const exactThemes: readonly Theme[] = [
  'mixed',
  'mixed',
  'mixed',
  'effects',
  'effects',
  'policies',
  'policies',
  'planning',
  'bursts',
]
const themes: readonly Theme[] = [
  'mixed',
  'effects',
  'effects',
  'policies',
  'replans',
  'replans',
  'budget',
  'planning',
  'bursts',
]

interface RunChoice {
  readonly runId: string
  readonly exact: boolean
  readonly hangs: boolean
  readonly theme: Theme
}

function randomRun(random: Random, { runId, exact, hangs, theme }: RunChoice): RunScenario {
  const effects = theme === 'effects' || (theme === 'replans' && random.chance(0.5))
  const capabilities: readonly CapabilityName[] = effects
    ? ['work', 'model', 'effect', 'once', 'undeclared']
    : theme === 'budget'
      ? ['costly', 'costly', 'climber', 'work']
      : [...usual, ...special.filter(() => random.chance(0.3))]
  const replans = theme === 'replans'
  const draft = randomDraft(random, {
    nodes: random.pick([1, 2, 3, 4, 5, 6, 8, mostNodes]),
    capabilities,
    routing: random.chance(0.6),
    fallbacks: random.chance(0.4),
    rao: random.chance(0.3),
    isWide: theme === 'bursts' || (effects && random.chance(0.5)),
    otherEffects: effects && !exact && random.chance(0.5),
    timeouts: hangs,
    limits: randomLimits(random, exact, theme),
  })
  const policies =
    theme === 'policies' || replans || random.chance(0.2) ? randomPolicies(random, { exact, replans }) : []
  const isBurst = theme === 'bursts' && !exact
  const manual = policies.filter(({ trigger }) => trigger.kind === 'manual')
  return {
    runId,
    draft,
    handed: theme !== 'planning' && random.chance(0.7),
    startAt: random.int(300),
    envelope: randomEnvelope(random, {
      runId,
      policies: isBurst ? [...policies, noticed] : policies,
      exact,
      theme,
    }),
    ...(!exact && random.chance(0.15) && { cancelAt: random.int(4000) }),
    triggers: [
      ...manual.map(({ id }) => ({ at: random.int(3000), policyId: id })),
      ...Array.from({ length: isBurst ? 20 : 0 }, () => ({ at: random.int(300), policyId: noticed.id })),
    ],
  }
}

/** An operator notes something, again and again. */
const noticed: RuntimePolicy = {
  id: 'noticed',
  enabled: true,
  trigger: { kind: 'manual' },
  action: { type: 'emit', event: 'noticed' },
  maxAttempts: 100,
}

function randomLimits(random: Random, exact: boolean, theme: Theme): Limits {
  const scarce = theme === 'budget' ? 0.7 : exact ? 0 : 0.05
  return {
    concurrency: random.pick([1, 2, 16]),
    maxAsks: exact ? 1000 : random.pick([2, 10, 100]),
    ...(random.chance(scarce) && { maxCalls: random.between(1, 12) }),
    ...(random.chance(scarce) && { maxTokens: random.between(10, 60) }),
    ...(!exact && random.chance(0.1) && { deadlineMs: random.between(500, 5000) }),
  }
}

function randomEnvelope(
  random: Random,
  {
    runId,
    policies,
    exact,
    theme,
  }: { runId: string; policies: readonly RuntimePolicy[]; exact: boolean; theme: Theme },
): Envelope {
  const directives = {
    ...(random.chance(theme === 'effects' ? 0.3 : 0.5) && { sideEffects: 'allow' as const }),
    ...(random.chance(0.15) && { askBeforeFinish: true }),
    ...(random.chance(theme === 'bursts' ? 0.7 : 0.15) && { hitlRequiredFor: ['n0', 'n2'] }),
  }
  return {
    objective: `Add up ${runId}`,
    inputs: { x: random.int(1000) },
    constraints: {},
    outputContract: {
      schema: answerSchema,
      constraints:
        !exact && random.chance(0.2)
          ? [{ constraintId: 'high', expr: { '>': [{ var: 'n0' }, 500] }, level: 'soft' }]
          : [],
    },
    policies: { planner: { directives }, runtime: policies },
    specialInstructions: [],
    metadata: {},
  }
}

function randomPolicies(
  random: Random,
  { exact, replans }: { exact: boolean; replans: boolean },
): RuntimePolicy[] {
  const triggers: readonly Trigger[] = [
    { kind: 'onStart' },
    { kind: 'onNodeComplete' },
    { kind: 'onNodeComplete', selector: { capabilityId: 'model' } },
    { kind: 'onNodeComplete', condition: { '<': [{ var: 'v' }, random.int(1000)] } },
    // Rarely met, and so named more often.
    { kind: 'onValidationFail' },
    { kind: 'onValidationFail' },
    { kind: 'onValidationFail' },
    { kind: 'onValidationFail' },
    ...(exact
      ? []
      : ([
          { kind: 'onTimeout', ms: random.between(100, 4000) },
          { kind: 'onMetricBelow', metric: 'v', threshold: random.int(1000) },
          { kind: 'onMetricBelow', metric: 'satisfaction', threshold: 1 },
          { kind: 'manual' },
          { kind: 'manual' },
        ] as const)),
  ]
  return Array.from({ length: random.between(1, 3) }, (_, index) => {
    const enabled = random.chance(0.9)
    const trigger = random.pick(triggers)
    const action = randomAction(random, { exact, replans, depth: 0 })
    // Who is asked about a failure decides what comes of it; which failures come first is a matter of luck.
    const isLuck = exact && trigger.kind === 'onValidationFail' && action.type === 'hitl'
    return {
      id: `policy-${index}`,
      enabled,
      trigger,
      action: isLuck ? { type: 'emit', event: 'noticed' } : action,
      ...(random.chance(0.7) && { maxAttempts: random.between(1, 3) }),
    }
  })
}

function randomAction(random: Random, given: { exact: boolean; replans: boolean; depth: number }): Action {
  const { exact, replans, depth } = given
  const type = random.pick([
    'emit',
    'pause',
    'hitl',
    ...(replans ? (['replan', 'replan'] as const) : []),
    ...(exact ? [] : (['fail'] as const)),
  ] as const)
  const deeper = () => randomAction(random, { ...given, depth: depth + 1 })
  switch (type) {
    case 'emit':
      return { type, event: 'noticed', payload: { depth } }
    case 'hitl':
      return {
        type,
        ...(depth < 2 && random.chance(0.5) && { approveAction: deeper() }),
        ...(depth < 2 && !exact && random.chance(0.5) && { rejectAction: deeper() }),
      }
    case 'replan':
      return { type, rationale: 'Something came up' }
    case 'pause':
      return { type }
    case 'fail':
      return { type }
  }
}
