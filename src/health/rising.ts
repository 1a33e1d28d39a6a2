/** What gets worse: the second half of the time against the first, and the last bucket against the first (AROS-65). */
import { stages } from '../domain/signals.ts'
import type { Stage } from '../output/index.ts'
import { changeFor, heaviest, placeOf, pointerOf } from './places.ts'
import type { Recommendation } from './recommendation.ts'
import type { Named, Survey } from './survey.ts'
import { thresholds } from './thresholds.ts'

export function risingChecks(survey: Survey): Recommendation[] {
  const { trend } = survey
  if (trend === undefined) return []
  const { prev, last, buckets } = trend
  const found: Recommendation[] = []
  const step = mostRisen(prev.steps, last.steps)
  const stepFigures = step && survey.steps.get(step.name)
  if (step && stepFigures) {
    const { stage } = heaviest(stepFigures)
    const place = placeOf(survey, step.name, stage)
    found.push({
      kind: 'trend',
      ...place,
      message: `Step "${step.name}" gets worse: from ${step.before} to ${step.after} changes between the halves of the time`,
      change: changeFor(stage, place, stepFigures),
    })
  }
  const model = mostRisen(prev.models, last.models)
  const modelFigures = model && survey.models.get(model.name)
  if (model && modelFigures) {
    const { stage } = heaviest(modelFigures)
    const place = { model: model.name, ...pointerOf(modelFigures, stage) }
    found.push({
      kind: 'trend',
      ...place,
      message: `Model ${model.name} gets worse: from ${model.before} to ${model.after} changes between the halves of the time`,
      change: changeFor(stage, place, modelFigures),
    })
  }
  for (const stage of stages) {
    const rise = last.all.coercion.stages[stage] - prev.all.coercion.stages[stage]
    if (rise < thresholds.rising) continue
    const where = mostRisen(prev.steps, last.steps, stage)
    const place = placeOf(survey, where?.name, stage)
    found.push({
      kind: 'trend',
      ...place,
      stage,
      message: `Changes of stage ${stage} rise by ${rise} from the first half of the time to the second`,
      change: changeFor(stage, place, survey.steps.get(where?.name ?? '') ?? survey.all),
    })
  }
  const [first, final] = [buckets[0], buckets.at(-1)]
  const drift = (final?.all.coercion.total ?? 0) - (first?.all.coercion.total ?? 0)
  if (drift >= thresholds.drift) {
    found.push({
      kind: 'trend',
      message: `Over ${buckets.length} parts of the time changes drift upwards, by ${drift} from the first to the last`,
      change: 'Look at what changed since then: a prompt, a schema, or the model behind the same name',
    })
  }
  return found
}

interface Rise {
  readonly name: string
  readonly before: number
  readonly after: number
}

/** Whose count rose the most, if it rose enough. */
function mostRisen(prev: Named, last: Named, stage?: Stage): Rise | undefined {
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
