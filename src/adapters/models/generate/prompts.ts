/** Builds the prompts of model calls. Data is embedded as JSON, never as part of a sentence. */

import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json } from '../../../base/json.ts'
import type { Bundle } from '../../../domain/ports/dispatcher.ts'
import { raoEnvelopeSchema } from '../../../domain/rao/rao-envelope.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'
import { feedback, strictInstruction } from '../../../output/index.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isTextContract } from '../../providers/structured-output/structured-plan.ts'

export interface Words {
  readonly system: string
  readonly prompt: string
}

interface Task {
  readonly bundle: Bundle
  readonly rao: boolean
  readonly redactor: Redactor
  /** What a precheck found: before the prompt, or as a member of the inputs. */
  readonly guidance?: { readonly text: string; readonly key?: string }
}

/** The first call of an attempt. The schema is always in the instruction: what a provider enforces is often less. */
export function taskWords(task: Task): Words {
  const { instructions, specialInstructions, returns } = task.bundle
  const system = [
    instructions,
    ...specialInstructions,
    task.rao ? raoInstruction(returns) : answerInstruction(returns),
  ]
  return { system: system.filter((part) => part !== '').join('\n\n'), prompt: taskPrompt(task) }
}

/** What the task is about, without how to answer. */
export function taskPrompt({ bundle, redactor, guidance }: Omit<Task, 'rao'>): string {
  const { objective, inputs, clarifications } = bundle
  const shown =
    guidance?.key !== undefined && isObject(inputs) ? { ...inputs, [guidance.key]: guidance.text } : inputs
  const parts = [
    ...(guidance && guidance.key === undefined ? [guidance.text] : []),
    `Objective: ${JSON.stringify(objective)}`,
    `Inputs: ${JSON.stringify(redactor.value(shown) as Json)}`,
  ]
  if (bundle.knowledge) parts.push(`Knowledge: ${JSON.stringify(bundle.knowledge)}`)
  if (clarifications.length > 0) parts.push(`Clarifications: ${JSON.stringify(clarifications)}`)
  if (bundle.feedback && bundle.feedback.length > 0)
    parts.push(
      `Earlier answers were not accepted. Feedback, oldest first: ${JSON.stringify(redactor.value(bundle.feedback))}`,
      'Answer anew and take the feedback into account.',
    )
  return parts.join('\n')
}

function answerInstruction(schema: JsonSchema): string {
  if (isTextContract(schema)) return 'Answer with the text alone.'
  return `Answer with JSON only, satisfying this JSON Schema:\n${JSON.stringify(schema)}`
}

function raoInstruction(returns: JsonSchema): string {
  return [
    `Answer with JSON only, satisfying this JSON Schema:\n${JSON.stringify(raoEnvelopeSchema)}`,
    `"primary_output" is text that satisfies this JSON Schema:\n${JSON.stringify(returns)}`,
  ].join('\n\n')
}

/** The failing text, what is wrong with it and the schema; nothing of the task, and no secret (FSD-38). */
export function repairWords(text: string, issues: readonly Issue[], schema: JsonSchema): Words {
  return {
    system: [
      'You repair JSON. Change as little as possible and invent nothing.',
      'If it cannot be repaired, answer {"repair_error": true, "reasoning": "why"}.',
      strictInstruction(schema),
    ].join('\n'),
    prompt: `${feedback(issues)}\n\nThe text:\n${text}`,
  }
}

/** The task once more, in stricter words; nothing of the answer that was not accepted goes in. */
export function stricterWords(task: Words, schema: JsonSchema): Words {
  return { system: `${task.system}\n\n${strictInstruction(schema)}`, prompt: task.prompt }
}

/** `extract_from_text`: the value out of what the model has written already. */
export function extractWords(text: string, schema: JsonSchema): Words {
  return {
    system: `You extract structured data from a text. Use only what the text says.\n${strictInstruction(schema)}`,
    prompt: `The text:\n${text}`,
  }
}

/** The task with a flat schema of strings, for models that fail on the full one. */
export function simplifiedWords(task: Words, schema: JsonSchema, flat: JsonSchema): Words {
  const asked = answerInstruction(schema)
  const system = task.system.includes(asked) ? task.system.replace(asked, () => '').trim() : task.system
  return { system: `${system}\n\n${strictInstruction(flat)}`.trim(), prompt: task.prompt }
}
