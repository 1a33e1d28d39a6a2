/** Detects regressions: the second half of the time range against the first, and the last bucket against the first (AROS-65). */
import { stages } from '../domain/event/health-attributes.ts'
import type { Stage } from '../output/index.ts'
import { changeFor, findHeaviestStage, findLocation, findPointer } from './locations.ts'
import { type Recommendation, thresholds } from './recommendation.ts'
import type { Named, Survey } from './survey.ts'

export function risingChecks(survey: Survey): Recommendation[] {
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
