/** Parses the steps of a pipeline file, with one parser per kind. */
import { isObject, type Json, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { iterationDefaults } from '../../domain/plan.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { parseTemplate } from '../templates/templates.ts'
import { snakeKeys } from '../yaml/snake-keys.ts'
import { common, type Data, type Given, guessKeys } from './given-step.ts'
import { parseCall } from './parse-call.ts'
import { readCondition } from './parse-condition.ts'
import { parseWorker } from './parse-worker.ts'
import type { Branches, ParallelStep, Step, UnreadableStep } from './pipeline.ts'
import { type StepKind, stepSchemas } from './pipeline-schema.ts'
import { check, checkInside, didYouMean, type Reading, snakeProcessing } from './reading.ts'

const aliases: Readonly<Record<string, StepKind>> = { dynamic_router: 'router' }

/** Kinds of the original project that have no counterpart here, and what to write instead. */
const notBuilt: Readonly<Record<string, string>> = {
  cache: 'Results are kept in the journal of a run; leave the step out',
  agentic_loop: 'Use kind: loop with a bound and an exit_condition',
  tree_search: 'Use kind: parallel, and a step that chooses',
  StateMachine: 'Use kind: conditional or router',
}

/** Maximum number of steps in one list: the node limit of a plan, so more could never run. */
const mostSteps = 1_000

export function parseSteps(reading: Reading, given: readonly Json[], at: Pointer): readonly Step[] {
  if (given.length > mostSteps) {
    reading.issues.push(
      reading.complain(at, {
        code: 'pipeline/limit',
        message: `there are ${given.length} steps here, more than the ${mostSteps} nodes that a plan may have`,
        hint: 'Split the work into several runs, or use kind: map for what is done again and again',
      }),
    )
    return []
  }
  const taken = new Set<string>()
  return given.map((item, index) => {
    const step = parseStep(reading, item, { at: child(at, index), otherwise: `step_${index + 1}` })
    if (taken.has(step.name))
      reading.issues.push(
        reading.complain(`${step.at}/name`, {
          code: 'pipeline/duplicate-name',
          message: `two steps of this list are called ${step.name}`,
          hint: 'Give each its own name: templates speak of steps by name',
        }),
      )
    taken.add(step.name)
    return step
  })
}

function parseStep(
  reading: Reading,
  item: Json,
  { at, otherwise }: { at: Pointer; otherwise: string },
): Step {
  if (!isObject(item)) {
    reading.issues.push(
      reading.complain(at, { code: 'pipeline/shape', message: 'a step is a map', hint: 'Write - name: …' }),
    )
    return unreadable({ data: {}, at, name: otherwise })
  }
  const shallow = snakeKeys(item as Json) as Data
  const data = Object.fromEntries(
    Object.entries(shallow).map(([key, value]) => [
      key,
      key === 'processing'
        ? snakeProcessing(value)
        : key === 'meta'
          ? snakeMeta(value)
          : ['map', 'loop', 'router', 'usage_limits', 'constraints'].includes(key)
            ? snakeKeys(value)
            : value,
    ]),
  ) as Data
  const name = typeof data['name'] === 'string' ? data['name'] : otherwise
  const said = data['kind'] ?? 'step'
  const kind = (own(aliases, String(said)) as StepKind | undefined) ?? String(said)
  if (!Object.hasOwn(stepSchemas, kind)) {
    const hint =
      (own(notBuilt, kind) as string | undefined) ??
      didYouMean(kind, Object.keys(stepSchemas), `There are ${Object.keys(stepSchemas).join(', ')}`)
    reading.issues.push(
      reading.complain(`${at}/kind`, {
        code: 'pipeline/kind',
        message: `kind of step "${kind}" not found`,
        hint,
      }),
    )
    return unreadable({ data, at, name }, parseInnerSteps(reading, data, at))
  }
  const schema = stepSchemas[kind as StepKind]
  const isWhole = check(reading, schema, data as Json, at)
  const guessed = isWhole ? data : guessKeys(schema, data)
  const isFilled = checkTemplates(reading, data['input'], `${at}/input`)
  const { input: _, ...withoutInput } = guessed ?? data
  const given = { data: isFilled ? (guessed ?? data) : withoutInput, at, name }
  if (guessed === undefined) return unreadable(given, parseInnerSteps(reading, data, at))
  const step = readers[kind as StepKind](reading, given) ?? {
    ...unreadable(given),
    mayWrite: kind !== 'step',
  }
  return isWhole ? step : { ...step, isDamaged: true }
}

function unreadable(given: Given, inside: readonly (readonly Step[])[] = []): UnreadableStep {
  return { ...common(given), kind: 'unreadable', mayWrite: true, inside }
}

/** Parses the lists of steps inside a rejected step. */
function parseInnerSteps(reading: Reading, data: Data, at: Pointer): readonly (readonly Step[])[] {
  return ['map', 'loop', 'router']
    .flatMap((key) => {
      const part = data[key]
      if (!isObject(part)) return []
      const { body, branches } = part as Data
      return [
        ...(Array.isArray(body) ? [parseSteps(reading, body, `${at}/${key}/body`)] : []),
        ...parseBranches(reading, branches, `${at}/${key}/branches`).values(),
      ]
    })
    .concat([...parseBranches(reading, data['branches'], `${at}/branches`).values()])
}

/** Converts only `processing`; all other keys of `meta` belong to the author. */
function snakeMeta(value: Json): Json {
  if (!isObject(value) || value['processing'] === undefined) return value
  return { ...(value as Data), processing: snakeProcessing(value['processing'] as Json) }
}

/** Checks that all texts with `{{ }}` parse, at any depth. */
function checkTemplates(reading: Reading, value: Json | undefined, at: Pointer): boolean {
  if (typeof value === 'string') {
    const parsed = parseTemplate(value)
    if (parsed.ok) return true
    const { source, message, hint } = parsed.problem
    reading.issues.push(reading.complain(at, { code: 'pipeline/template', message, hint, words: source }))
    return false
  }
  if (!isObject(value) && !Array.isArray(value)) return true
  return Object.entries(value as Data)
    .map(([key, member]) => checkTemplates(reading, member, child(at, key)))
    .every(Boolean)
}

const readers: { readonly [K in StepKind]: (reading: Reading, given: Given) => Step | undefined } = {
  step: parseCall,
  parallel: (reading, given) => ({
    ...common(given),
    kind: 'parallel',
    branches: parseBranches(reading, given.data['branches'], `${given.at}/branches`),
    mergeStrategy: (given.data['merge_strategy'] ?? 'keep_branches') as ParallelStep['mergeStrategy'],
  }),
  conditional: parseConditional,
  map(reading, given) {
    const {
      iterable_input,
      body,
      max_items = iterationDefaults.maxItems,
      concurrency,
      on_item_fail = 'fail',
    } = given.data['map'] as {
      iterable_input: string
      body: Json[]
      max_items?: number
      concurrency?: number
      on_item_fail?: 'fail' | 'skip' | 'collect'
    }
    checkTemplates(reading, iterable_input, `${given.at}/map/iterable_input`)
    return {
      ...common(given),
      kind: 'map',
      over: iterable_input,
      body: parseSteps(reading, body, `${given.at}/map/body`),
      maxItems: max_items,
      onItemFail: on_item_fail,
      ...(concurrency !== undefined && { concurrency }),
    }
  },
  loop(reading, given) {
    const { body, max_loops, exit_condition, on_max_loops } = given.data['loop'] as {
      body: Json[]
      max_loops: number
      exit_condition?: Json
      on_max_loops?: 'fail' | 'accept'
    }
    return {
      ...common(given),
      kind: 'loop',
      body: parseSteps(reading, body, `${given.at}/loop/body`),
      maxLoops: max_loops,
      ...(exit_condition !== undefined && {
        exitCondition: readCondition(reading, exit_condition, `${given.at}/loop/exit_condition`),
      }),
      // Without a condition, every round is intended; with one, reaching the limit is a failure unless the
      // author accepts it.
      onMaxLoops: on_max_loops ?? (exit_condition === undefined ? 'accept' : 'fail'),
    }
  },
  router(reading, given) {
    const { router_agent, branches } = given.data['router'] as { router_agent: string; branches: Json }
    const worker = parseWorker(reading, { agent: router_agent }, { agent: `${given.at}/router/router_agent` })
    const made = parseBranches(reading, branches, `${given.at}/router/branches`)
    return worker?.kind === 'agent'
      ? { ...common(given), kind: 'router', agent: worker.name, branches: made }
      : undefined
  },
  hitl(reading, given) {
    checkTemplates(reading, given.data['message'], `${given.at}/message`)
    checkInside(reading, given.data['input_schema'], `${given.at}/input_schema`)
    return {
      ...common(given),
      kind: 'hitl',
      message: String(given.data['message']),
      inputSchema: (given.data['input_schema'] ?? true) as JsonSchema,
    }
  },
}

function parseConditional(reading: Reading, given: Given): Step | undefined {
  const { data, at } = given
  const { condition, condition_expression: expression, default_branch: otherwise } = data
  const branches = parseBranches(reading, data['branches'], `${at}/branches`)
  const complain = (message: string, hint: string, where = at) => {
    reading.issues.push(reading.complain(where, { code: 'pipeline/conditional', message, hint }))
    return undefined
  }
  if ((condition === undefined) === (expression === undefined))
    return complain(
      'a conditional step has either condition or condition_expression',
      'Write condition: previous_step.kind == "x", or condition_expression: "{{ previous_step.kind }}"',
    )
  const read = condition === undefined ? undefined : readCondition(reading, condition, `${at}/condition`)
  if (read !== undefined) {
    const unknown = [...branches.keys()].find((name) => name !== 'true' && name !== 'false')
    if (unknown !== undefined)
      return complain(
        `the branches of a condition are true and false, not ${unknown}`,
        'Use condition_expression for other names',
        `${at}/branches`,
      )
  } else checkTemplates(reading, expression, `${at}/condition_expression`)
  if (typeof otherwise === 'string' && !branches.has(otherwise))
    return complain(
      `branch "${otherwise}" not found`,
      didYouMean(otherwise, [...branches.keys()], 'Name one of the branches'),
      `${at}/default_branch`,
    )
  return {
    ...common(given),
    kind: 'conditional',
    ...(read !== undefined && { condition: read }),
    ...(typeof expression === 'string' && { expression }),
    branches,
    ...(typeof otherwise === 'string' && { defaultBranch: otherwise }),
  }
}

/** Each branch is a list of steps, or a single step. */
function parseBranches(reading: Reading, given: Json | undefined, at: Pointer): Branches {
  const entries = isObject(given) ? Object.entries(given as Data) : []
  return new Map(
    entries.map(([name, steps]) => {
      const list = Array.isArray(steps) ? (steps as readonly Json[]) : undefined
      if (list) return [name, parseSteps(reading, list, child(at, name))]
      const step = parseStep(reading, steps, { at: child(at, name), otherwise: name })
      return [name, [step]]
    }),
  )
}
