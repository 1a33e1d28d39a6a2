/** Random small pipelines of every kind of step, as data: written out as YAML for the compiler, gone through by the reference. */
import type { Json } from '../../src/index.ts'
import type { Random } from '../random.ts'

export interface RandomStep {
  readonly name: string
  readonly kind?: 'parallel' | 'conditional' | 'map' | 'loop' | 'router'
  readonly uses?: 'calc' | 'wrap_dict' | 'ensure_object'
  readonly params?: { readonly key: string }
  readonly input?: Json
  readonly sink_to?: string
  readonly updates_context?: true
  readonly condition?: Condition
  readonly condition_expression?: string
  readonly default_branch?: string
  readonly branches?: { readonly [name: string]: readonly RandomStep[] }
  readonly map?: {
    readonly iterable_input: string
    readonly max_items: number
    readonly body: readonly RandomStep[]
  }
  readonly loop?: {
    readonly max_loops: number
    readonly exit_condition?: Condition
    readonly on_max_loops?: 'accept'
    readonly body: readonly RandomStep[]
  }
  readonly router?: {
    readonly router_agent: string
    readonly branches: { readonly [name: string]: readonly RandomStep[] }
  }
}

/** One comparison of a path with a number. */
export type Condition = {
  readonly [operator in '>=' | '<' | '==']?: readonly [{ readonly var: string }, number]
}

export interface RandomPipeline {
  readonly context: { readonly [key: string]: Json }
  readonly agents: Json
  readonly steps: readonly RandomStep[]
}

/** What can be named at a place. */
interface Around {
  readonly depth: number
  /** Steps before, with whether their output is one of `calc`. */
  readonly before: readonly { readonly name: string; readonly calc: boolean }[]
  readonly locals: readonly string[]
  /** The output before is one of `calc`. */
  readonly afterCalc: boolean
}

const keys = ['k0', 'k1', 'k2'] as const
const deepest = 2

export function randomPipeline(random: Random): RandomPipeline {
  let made = 0
  const steps = (count: number, around: Around): RandomStep[] => {
    const list: RandomStep[] = []
    let here = around
    for (let n = 0; n < count; n++) {
      const step = randomStep(here)
      list.push(step)
      const calc = step.uses === 'calc'
      here = { ...here, before: [...here.before, { name: step.name, calc }], afterCalc: calc }
    }
    return list
  }
  const inside = (around: Around, change: Partial<Around> = {}): Around => ({
    ...around,
    depth: around.depth + 1,
    ...change,
  })
  const some = (around: Around) => steps(random.int(0, 2), around)
  const names = (count: number) => ['x', 'y', 'z'].slice(0, count)

  function randomStep(around: Around): RandomStep {
    const name = `s${made++}`
    const kinds = ['parallel', 'conditional', 'map', 'loop', 'router'] as const
    const kind = around.depth < deepest && random.chance(0.5) ? random.pick(kinds) : undefined
    const outcome = random.chance(0.4) ? { sink_to: random.pick(keys) } : {}
    if (kind === undefined) return call(name, around, outcome)
    const given = kind !== 'map' && random.chance(0.3) ? { input: template(around) } : {}
    const within = inside(around, 'input' in given ? { afterCalc: false } : {})
    switch (kind) {
      case 'parallel':
        return { name, kind, ...given, ...outcome, branches: branches(names(random.int(1, 3)), within) }
      case 'conditional':
        return { name, kind, ...given, ...outcome, ...choice(within) }
      case 'map':
        return {
          name,
          kind,
          ...outcome,
          map: {
            iterable_input: random.pick(['input.items', '{{ input.items }}', 'input.none']),
            max_items: random.chance(0.9) ? 3 : 1,
            body: steps(random.int(1, 2), inside(around, { locals: ['item', 'index'], afterCalc: false })),
          },
        }
      case 'loop':
        return { name, kind, ...given, ...outcome, loop: loop(within) }
      case 'router':
        return {
          name,
          kind,
          ...given,
          ...outcome,
          router: { router_agent: 'agents.picker', branches: branches(names(random.int(1, 3)), within) },
        }
    }
  }

  function call(name: string, around: Around, outcome: object): RandomStep {
    const uses = random.chance(0.7) ? 'calc' : random.pick(['wrap_dict', 'ensure_object'] as const)
    return {
      name,
      uses,
      ...(uses !== 'calc' && random.chance(0.5) && { params: { key: random.pick(['a', 'b']) } }),
      ...(random.chance(0.6) && { input: template(around) }),
      ...(uses === 'calc' && random.chance(0.3) && { updates_context: true as const }),
      ...outcome,
    }
  }

  const branches = (list: readonly string[], around: Around) =>
    Object.fromEntries(list.map((branch) => [branch, steps(random.int(1, 2), around)]))

  function choice(around: Around): Partial<RandomStep> {
    const calc = around.before.filter((step) => step.calc)
    if (calc.length > 0 && random.chance(0.4)) {
      const { name } = random.pick(calc)
      return {
        condition_expression: `{{ steps.${name}.output.n }}`,
        branches: branches(['0', '1', '2'], around),
        ...(random.chance(0.8) && { default_branch: '1' }),
      }
    }
    const either = { true: some(around), ...(random.chance(0.7) && { false: some(around) }) }
    return { condition: condition(around), branches: either }
  }

  function loop(around: Around): NonNullable<RandomStep['loop']> {
    const body = steps(random.int(1, 2), { ...around, locals: [...around.locals, 'iteration'] })
    const last = body.at(-1)
    const paths = ['iteration', ...(last?.uses === 'calc' ? ['previous_step.n'] : [])]
    return {
      max_loops: random.int(1, 3),
      ...(random.chance(0.8) && { exit_condition: compare(random.pick(paths)) }),
      ...(random.chance(0.8) && { on_max_loops: 'accept' as const }),
      body,
    }
  }

  function condition(around: Around): Condition {
    const calc = around.before.filter((step) => step.calc).map(({ name }) => `steps.${name}.output.n`)
    return compare(
      random.pick(['input.n', 'context.n', ...calc, ...(around.afterCalc ? ['previous_step.n'] : [])]),
    )
  }

  function compare(path: string): Condition {
    return { [random.pick(['>=', '<', '=='] as const)]: [{ var: path }, random.int(0, 3)] }
  }

  function template(around: Around): string {
    const paths = [
      'previous_step',
      'input.n',
      'input.items',
      ...keys.map((key) => `context.${key}`),
      'context.n',
      ...around.before.map(({ name }) => `steps.${name}.output`),
      ...around.locals,
    ]
    const path = () => `{{ ${random.pick(paths)} }}`
    return random.chance(0.6) ? path() : `${path()} and ${path()}`
  }

  return {
    context: { k0: 'zero', k1: 1, k2: ['two'], n: 0, tag: 't' },
    agents: { picker: { model: 'test/m' } },
    steps: steps(random.int(1, 4), { depth: 0, before: [], locals: [], afterCalc: false }),
  }
}
