/** What to change, from what was counted (AROS-65). Thresholds and words are tables; every recommendation says where. */

import { stages } from '../domain/signals.ts'
import type { Stage } from '../output/index.ts'
import { type Figures, ranked } from './figures.ts'
import { askForJson, changeFor, heaviest, placeOf, pointerOf, worst } from './places.ts'
import type { Recommendation } from './recommendation.ts'
import { risingChecks } from './rising.ts'
import type { Survey } from './survey.ts'
import { thresholds } from './thresholds.ts'

export function recommend(survey: Survey): Recommendation[] {
  return [basicChecks, targetedChecks, stageChecks, risingChecks].flatMap((check) => check(survey))
}

function basicChecks(survey: Survey): Recommendation[] {
  const { all, models, steps } = survey
  const found: Recommendation[] = []
  if (all.coercion.total >= thresholds.total && all.soe.applied === 0) {
    const place = placeOf(survey, worst(steps)?.name)
    found.push({
      kind: 'basic',
      ...place,
      message: `${all.coercion.total} changes were made while reading, and no call had structured output`,
      change: askForJson(place, all),
    })
  }
  for (const [model, { soe }] of models) {
    const [first] = ranked(soe.reasons)
    if (first === undefined || first.count < thresholds.stage) continue
    found.push({
      kind: 'basic',
      model,
      message: `Structured output was skipped ${first.count} times: ${first.name}`,
      change: `Give the steps of ${model} a model whose provider has a JSON mode, or set processing.structured_output to off to say that none is wanted`,
    })
  }
  for (const [step, { precheck }] of steps) {
    if (precheck.fail < thresholds.stage || precheck.fail * 2 < precheck.total) continue
    found.push({
      kind: 'basic',
      step,
      message: `${precheck.fail} of ${precheck.total} prechecks failed`,
      change: `Bring what processing.reasoning_precheck.required_context_keys asks for into the inputs of step "${step}", or give it a plan that its validator accepts`,
    })
  }
  for (const [step, figures] of steps) {
    const climbed = climbs(figures)
    if (climbed < thresholds.stage) continue
    const model = worst(survey.modelsOfStep.get(step) ?? new Map(), climbs)?.name
    found.push({
      kind: 'basic',
      step,
      ...(model !== undefined && { model }),
      ...pointerOf(figures),
      message: `The first answer was not enough ${climbed} times; asking again took ${figures.repair.calls} calls`,
      change: `Make the schema of step "${step}" easier to meet, or give it a stronger model than ${model ?? 'the present one'}`,
    })
  }
  return found
}

/** How often a rung above the first call was taken. */
function climbs({ rungs }: Figures): number {
  return Object.values(rungs).reduce((sum, { taken }) => sum + taken, 0)
}

/** The worst step and the worst model, each with the stage that it suffers from most. */
function targetedChecks(survey: Survey): Recommendation[] {
  const found: Recommendation[] = []
  const step = worst(survey.steps)
  const ofStep = step && heaviest(step.figures)
  if (
    step &&
    ofStep &&
    step.figures.coercion.total >= thresholds.worst &&
    ofStep.count >= thresholds.worstStage
  ) {
    const place = placeOf(survey, step.name, ofStep.stage)
    found.push({
      kind: 'targeted',
      ...place,
      stage: ofStep.stage,
      message: `Step "${step.name}" needs the most changes: ${step.figures.coercion.total}, of which ${ofStep.count} ${ofStep.stage}`,
      change: changeFor(ofStep.stage, place, step.figures),
    })
  }
  const model = worst(survey.models)
  const ofModel = model && heaviest(model.figures)
  if (
    model &&
    ofModel &&
    model.figures.coercion.total >= thresholds.worst &&
    ofModel.count >= thresholds.worstStage
  ) {
    const place = { model: model.name, ...pointerOf(model.figures, ofModel.stage) }
    found.push({
      kind: 'targeted',
      ...place,
      stage: ofModel.stage,
      message: `Model ${model.name} needs the most changes: ${model.figures.coercion.total}, of which ${ofModel.count} ${ofModel.stage}`,
      change: changeFor(ofModel.stage, place, model.figures),
    })
  }
  return found
}

function stageChecks(survey: Survey): Recommendation[] {
  return stages.flatMap((stage) => {
    const count = survey.all.coercion.stages[stage]
    if (count < thresholds.stage) return []
    const step = worst(survey.steps, ({ coercion }) => coercion.stages[stage])
    const place = placeOf(survey, step?.name, stage)
    return [
      {
        kind: 'stage' as const,
        ...place,
        stage,
        message: `${stageWords[stage]} ${count} times, most of all in step "${step?.name}"`,
        change: changeFor(stage, place, step?.figures ?? survey.all),
      },
    ]
  })
}

const stageWords: { readonly [S in Stage]: string } = {
  extract: 'A value had to be found in other text',
  tolerant: 'A text in the looser notation of JSON5 was read',
  syntactic: 'Broken JSON was mended',
  semantic: 'A value had to be converted',
  custom: 'A stage of your own changed a value',
}
