/** Derives recommendations from the counts (AROS-65). Thresholds and texts are tables; every recommendation names its location. */
import { stages } from '../domain/event/health-attributes.ts'
import { type RuleName, rules, type Stage } from '../output/index.ts'
import { type Figures, ranked } from './figures.ts'
import { type Recommendation, thresholds } from './recommendation.ts'
import type { Named, Survey } from './survey.ts'

export function recommend(survey: Survey): Recommendation[] {
  return [basicChecks, targetedChecks, stageChecks, risingChecks].flatMap((check) => check(survey))
}

function basicChecks(survey: Survey): Recommendation[] {
  const { all, models, steps } = survey
  const found: Recommendation[] = []
  if (all.coercion.total >= thresholds.total && all.soe.applied === 0) {
    const location = findLocation(survey, findWorst(steps)?.name)
    found.push({
      kind: 'basic',
      ...location,
      message: `${all.coercion.total} changes were made while parsing, and no call used structured output`,
      change: askForJson(location, all),
    })
  }
  for (const [model, { soe }] of models) {
    const [first] = ranked(soe.reasons)
    if (first === undefined || first.count < thresholds.stage) continue
    found.push({
      kind: 'basic',
      model,
      message: `Structured output was skipped ${first.count} times: ${first.name}`,
      change: `Give the steps of ${model} a model whose provider has a JSON mode, or set processing.structured_output to off to opt out`,
    })
  }
  for (const [step, { precheck }] of steps) {
    if (precheck.fail < thresholds.stage || precheck.fail * 2 < precheck.total) continue
    found.push({
      kind: 'basic',
      step,
      message: `${precheck.fail} of ${precheck.total} prechecks failed`,
      change: `Add the inputs in processing.reasoning_precheck.required_context_keys to step "${step}", or give it a plan that its validator accepts`,
    })
  }
  for (const [step, figures] of steps) {
    const fallbacks = countFallbacks(figures)
    if (fallbacks < thresholds.stage) continue
    const model = findWorst(survey.modelsOfStep.get(step) ?? new Map(), countFallbacks)?.name
    found.push({
      kind: 'basic',
      step,
      ...(model !== undefined && { model }),
      ...findPointer(figures),
      message: `The first answer was not accepted ${fallbacks} times; fallbacks took ${figures.repair.calls} calls`,
      change: `Simplify the schema of step "${step}", or give it a stronger model than ${model ?? 'the current one'}`,
    })
  }
  return found
}

/** Counts the fallback steps taken after the first call. */
function countFallbacks({ fallbacks }: Figures): number {
  return Object.values(fallbacks).reduce((sum, { taken }) => sum + taken, 0)
}

/** Checks the worst step and the worst model, each with its most frequent stage. */
function targetedChecks(survey: Survey): Recommendation[] {
  const found: Recommendation[] = []
  const step = findWorst(survey.steps)
  const ofStep = step && findHeaviestStage(step.figures)
  if (
    step &&
    ofStep &&
    step.figures.coercion.total >= thresholds.worst &&
    ofStep.count >= thresholds.worstStage
  ) {
    const location = findLocation(survey, step.name, ofStep.stage)
    found.push({
      kind: 'targeted',
      ...location,
      stage: ofStep.stage,
      message: `Step "${step.name}" needs the most changes: ${step.figures.coercion.total}, of which ${ofStep.count} ${ofStep.stage}`,
      change: changeFor(ofStep.stage, location, step.figures),
    })
  }
  const model = findWorst(survey.models)
  const ofModel = model && findHeaviestStage(model.figures)
  if (
    model &&
    ofModel &&
    model.figures.coercion.total >= thresholds.worst &&
    ofModel.count >= thresholds.worstStage
  ) {
    const location = { model: model.name, ...findPointer(model.figures, ofModel.stage) }
    found.push({
      kind: 'targeted',
      ...location,
      stage: ofModel.stage,
      message: `Model ${model.name} needs the most changes: ${model.figures.coercion.total}, of which ${ofModel.count} ${ofModel.stage}`,
      change: changeFor(ofModel.stage, location, model.figures),
    })
  }
  return found
}

function stageChecks(survey: Survey): Recommendation[] {
  return stages.flatMap((stage) => {
    const count = survey.all.coercion.stages[stage]
    if (count < thresholds.stage) return []
    const step = findWorst(survey.steps, ({ coercion }) => coercion.stages[stage])
    const location = findLocation(survey, step?.name, stage)
    return [
      {
        kind: 'stage' as const,
        ...location,
        stage,
        message: `${stageWords[stage]} ${count} times, most of all in step "${step?.name}"`,
        change: changeFor(stage, location, step?.figures ?? survey.all),
      },
    ]
  })
}

const stageWords: { readonly [S in Stage]: string } = {
  extract: 'A value was extracted from other text',
  tolerant: 'A text was parsed as JSON5',
  syntactic: 'Broken JSON was repaired',
  semantic: 'A value was converted',
  custom: 'A custom stage changed a value',
}

/** Detects regressions: the second half of the time range against the first, and the last bucket against the first. */
function risingChecks(survey: Survey): Recommendation[] {
  const { trend } = survey
  if (trend === undefined) return []
  const { prev, last, buckets } = trend
  const found: Recommendation[] = []
  const step = findLargestRise(prev.steps, last.steps)
  const stepFigures = step && survey.steps.get(step.name)
  if (step && stepFigures) {
    const { stage } = findHeaviestStage(stepFigures)
    const location = findLocation(survey, step.name, stage)
    found.push({
      kind: 'trend',
      ...location,
      message: `Step "${step.name}" is getting worse: from ${step.before} to ${step.after} changes between the halves of the time range`,
      change: changeFor(stage, location, stepFigures),
    })
  }
  const model = findLargestRise(prev.models, last.models)
  const modelFigures = model && survey.models.get(model.name)
  if (model && modelFigures) {
    const { stage } = findHeaviestStage(modelFigures)
    const location = { model: model.name, ...findPointer(modelFigures, stage) }
    found.push({
      kind: 'trend',
      ...location,
      message: `Model ${model.name} is getting worse: from ${model.before} to ${model.after} changes between the halves of the time range`,
      change: changeFor(stage, location, modelFigures),
    })
  }
  for (const stage of stages) {
    const rise = last.all.coercion.stages[stage] - prev.all.coercion.stages[stage]
    if (rise < thresholds.rising) continue
    const where = findLargestRise(prev.steps, last.steps, stage)
    const location = findLocation(survey, where?.name, stage)
    found.push({
      kind: 'trend',
      ...location,
      stage,
      message: `Changes of stage ${stage} rise by ${rise} from the first half of the time range to the second`,
      change: changeFor(stage, location, survey.steps.get(where?.name ?? '') ?? survey.all),
    })
  }
  const [first, final] = [buckets[0], buckets.at(-1)]
  const drift = (final?.all.coercion.total ?? 0) - (first?.all.coercion.total ?? 0)
  if (drift >= thresholds.drift) {
    found.push({
      kind: 'trend',
      message: `Over ${buckets.length} buckets changes drift upwards, by ${drift} from the first to the last`,
      change: 'Check what changed since then: a prompt, a schema, or the model behind the same name',
    })
  }
  return found
}

interface Rise {
  readonly name: string
  readonly before: number
  readonly after: number
}

/** Finds the name whose count rose the most, if it reaches the threshold. */
function findLargestRise(prev: Named, last: Named, stage?: Stage): Rise | undefined {
  const count = (named: Named, name: string) => {
    const coercion = named.get(name)?.coercion
    return (stage === undefined ? coercion?.total : coercion?.stages[stage]) ?? 0
  }
  let most: Rise | undefined
  for (const name of [...last.keys()].sort()) {
    const rise = { name, before: count(prev, name), after: count(last, name) }
    if (rise.after - rise.before < thresholds.rising) continue
    if (most === undefined || rise.after - rise.before > most.after - most.before) most = rise
  }
  return most
}

// Where a recommendation applies, and the change that it suggests.

interface At {
  readonly step?: string
  readonly model?: string
  readonly pointer?: string
}

/** Returns the suggested change for a stage, in terms of the settings. */
function changeFor(stage: Stage, at: At, figures: Figures): string {
  const { pointer } = at
  switch (stage) {
    case 'extract':
    case 'tolerant':
    case 'syntactic':
      return `${askForJson(at, figures)}, or end the prompt with "Answer with JSON only"`
    case 'semantic':
      return pointer === undefined
        ? `${where(at)} name the expected types in schema and prompt, or widen the schema`
        : `${where(at)} describe ${pointer} in the schema (its type, and an example), or widen its type`
    case 'custom':
      return `${where(at)} let the prompt ask for the result of your custom stage`
  }
}

/** Suggests how to get plain JSON from the model, depending on the structured output used so far. */
function askForJson(at: At, { soe }: Figures): string {
  const { model = 'this model' } = at
  if (soe.applied > 0)
    return `${where(at)} structured output is on but not followed: set processing.enforce_grammar if the server supports it, or use another model than ${model}`
  if (soe.skipped > 0) return `${where(at)} use a model whose provider has a JSON mode instead of ${model}`
  return `${where(at)} set processing.structured_output to auto`
}

function where({ step, model }: At): string {
  if (step !== undefined) return `In step "${step}"`
  return model === undefined ? 'Everywhere' : `Where ${model} answers,`
}

/** Finds the model with the most changes in a step, and the location in the value. */
function findLocation({ steps, modelsOfStep }: Survey, step: string | undefined, stage?: Stage): At {
  const figures = step === undefined ? undefined : steps.get(step)
  if (step === undefined || figures === undefined) return {}
  const getCount = stage === undefined ? undefined : ({ coercion }: Figures) => coercion.stages[stage]
  const model = findWorst(modelsOfStep.get(step) ?? new Map(), getCount)?.name
  return { step, ...(model !== undefined && { model }), ...findPointer(figures, stage) }
}

/** Finds where rules of this stage changed the value most often. */
function findPointer({ locations }: Figures, stage?: Stage): { readonly pointer?: string } {
  for (const { name } of ranked(locations)) {
    const space = name.indexOf(' ')
    const rule = name.slice(0, space)
    const known = Object.hasOwn(rules, rule) ? rules[rule as RuleName].stage : 'custom'
    if (stage === undefined || known === stage) return { pointer: name.slice(space + 1) }
  }
  return {}
}

/** Finds the entry with the highest count of coercions, or of another figure. */
function findWorst(
  named: Named,
  getCount = ({ coercion }: Figures): number => coercion.total,
): { readonly name: string; readonly figures: Figures } | undefined {
  let found: { name: string; figures: Figures } | undefined
  for (const [name, figures] of named) {
    const [count, best] = [getCount(figures), found === undefined ? 0 : getCount(found.figures)]
    if (count > best || (count === best && found !== undefined && name < found.name))
      found = { name, figures }
  }
  return found
}

function findHeaviestStage({ coercion }: Figures): { readonly stage: Stage; readonly count: number } {
  const [first] = [...stages].sort((one, other) => coercion.stages[other] - coercion.stages[one])
  const stage = first ?? 'extract'
  return { stage, count: coercion.stages[stage] }
}
