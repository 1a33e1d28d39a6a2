/** Finds where a recommendation applies, and phrases the change it suggests. */
import { stages } from '../domain/event/health-attributes.ts'
import { type RuleName, rules, type Stage } from '../output/index.ts'
import { type Figures, ranked } from './figures.ts'
import type { Named, Survey } from './survey.ts'

interface At {
  readonly step?: string
  readonly model?: string
  readonly pointer?: string
}

/** Returns the suggested change for a stage, in terms of the settings. */
export function changeFor(stage: Stage, at: At, figures: Figures): string {
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
export function askForJson(at: At, { soe }: Figures): string {
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
export function findLocation({ steps, modelsOfStep }: Survey, step: string | undefined, stage?: Stage): At {
  const figures = step === undefined ? undefined : steps.get(step)
  if (step === undefined || figures === undefined) return {}
  const countOf = stage === undefined ? undefined : ({ coercion }: Figures) => coercion.stages[stage]
  const model = findWorst(modelsOfStep.get(step) ?? new Map(), countOf)?.name
  return { step, ...(model !== undefined && { model }), ...findPointer(figures, stage) }
}

/** Finds where rules of this stage changed the value most often. */
export function findPointer({ locations }: Figures, stage?: Stage): { readonly pointer?: string } {
  for (const { name } of ranked(locations)) {
    const space = name.indexOf(' ')
    const rule = name.slice(0, space)
    const known = Object.hasOwn(rules, rule) ? rules[rule as RuleName].stage : 'custom'
    if (stage === undefined || known === stage) return { pointer: name.slice(space + 1) }
  }
  return {}
}

/** Finds the entry with the highest count of coercions, or of another figure. */
export function findWorst(
  named: Named,
  countOf = ({ coercion }: Figures): number => coercion.total,
): { readonly name: string; readonly figures: Figures } | undefined {
  let found: { name: string; figures: Figures } | undefined
  for (const [name, figures] of named) {
    const [count, best] = [countOf(figures), found === undefined ? 0 : countOf(found.figures)]
    if (count > best || (count === best && found !== undefined && name < found.name))
      found = { name, figures }
  }
  return found
}

export function findHeaviestStage({ coercion }: Figures): { readonly stage: Stage; readonly count: number } {
  const [first] = [...stages].sort((one, other) => coercion.stages[other] - coercion.stages[one])
  const stage = first ?? 'extract'
  return { stage, count: coercion.stages[stage] }
}
