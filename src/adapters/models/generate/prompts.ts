/** Builds the prompts of model calls. Data is embedded as JSON, never as part of a sentence. */

import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json } from '../../../base/json.ts'
import type { Bundle } from '../../../domain/ports/dispatcher.ts'
import { raoEnvelopeSchema } from '../../../domain/rao/rao-envelope.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'
import { describeThread } from '../../../domain/thread/thread-context.ts'
import { feedback, strictInstruction } from '../../../output/index.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isTextContract } from '../../providers/structured-output/structured-plan.ts'

export interface Words {
  readonly system: string
  readonly prompt: string
  /** The end of `system` that states the schema; not sent to a provider that enforces the whole schema. */
  readonly schemaWords?: SchemaWords | undefined
}

/** How the schema of an answer is put into words, and what is said instead if it is sent as structured output. */
interface SchemaWords {
  readonly stated: string
  readonly enforced: string
}

/** The words for a provider that enforces the whole schema: it is not sent twice. */
export function withoutSchema({ system, schemaWords }: Pick<Words, 'system' | 'schemaWords'>): string {
  if (!schemaWords || !system.endsWith(schemaWords.stated)) return system
  return `${system.slice(0, -schemaWords.stated.length)}${schemaWords.enforced}`
}

interface Task {
  readonly bundle: Bundle
  readonly rao: boolean
  readonly redactor: Redactor
  /** What a precheck found: before the prompt, or as a member of the inputs. */
  readonly guidance?: { readonly text: string; readonly key?: string }
}

/** The first call of an attempt. The schema is in the instruction, unless the provider enforces all of it. */
export function taskWords(task: Task): Words {
  const { instructions, specialInstructions } = task.bundle
  const schemaWords = wordsFor(task)
  const system = [instructions, ...specialInstructions, schemaWords.stated]
  return {
    system: system.filter((part) => part !== '').join('\n\n'),
    prompt: taskPrompt(task),
    schemaWords,
  }
}

/** The first words to an agent; its answer is requested without forbidding tools. */
export function agentWords(task: Task): Words {
  const { instructions, specialInstructions } = task.bundle
  const schemaWords = wordsFor(task)
  const tools = 'Call the tools that you need. When you have the answer, give it without calling a tool.'
  const system = [instructions, ...specialInstructions, `${tools} ${schemaWords.stated}`]
  return {
    system: system.filter((part) => part !== '').join('\n\n'),
    prompt: taskPrompt(task),
    schemaWords,
  }
}

/** Requests the answer of an agent, whose schema it has; `issues` are what is wrong with the one before. */
export function finalWords({ bundle, rao }: Pick<Task, 'bundle' | 'rao'>, issues: readonly Issue[]): string {
  const isText = !rao && isTextContract(bundle.returns)
  const answer = isText ? textOnly : 'Answer with JSON only, in the form that was requested.'
  const wrong = issues.length > 0 ? [feedback(issues)] : []
  return [...wrong, `Answer now, without calling a tool. ${answer}`].join('\n\n')
}

/** Feedback about an answer that was judged, for the next turn of an agent. */
export function feedbackWords(entries: Bundle['feedback'], redactor: Redactor): string {
  const said = entries && entries.length > 0 ? JSON.stringify(redactor.value(entries)) : ''
  return [
    `Your answer was not accepted.${said && ` Feedback, oldest first: ${said}`}`,
    'Answer anew and take the feedback into account. You can call tools again; what they have done stays done.',
  ].join('\n')
}

/** What the task is about, without how to answer. */
export function taskPrompt({ bundle, redactor, guidance }: Omit<Task, 'rao'>): string {
  const { objective, inputs, clarifications } = bundle
  const shown =
    guidance?.key !== undefined && isObject(inputs) ? { ...inputs, [guidance.key]: guidance.text } : inputs
  const parts = [
    ...(bundle.conversation ? describeThread(bundle.conversation) : []),
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

/** How an answer of the task is requested, with its schema and without. */
export function wordsFor({ bundle, rao }: Pick<Task, 'bundle' | 'rao'>): SchemaWords {
  return rao ? raoWords(bundle.returns) : answerWords(bundle.returns)
}

const textOnly = 'Answer with the text alone.'
const jsonOnly = 'Answer with JSON only'

function answerWords(schema: JsonSchema): SchemaWords {
  if (isTextContract(schema)) return { stated: textOnly, enforced: textOnly }
  return {
    stated: `${jsonOnly}, satisfying this JSON Schema:\n${JSON.stringify(schema)}`,
    enforced: `${jsonOnly}.`,
  }
}

function raoWords(returns: JsonSchema): SchemaWords {
  const { stated, enforced } = answerWords(raoEnvelopeSchema)
  const inner = `"primary_output" is text that satisfies this JSON Schema:\n${JSON.stringify(returns)}`
  return { stated: `${stated}\n\n${inner}`, enforced: `${enforced}\n\n${inner}` }
}

function strictWords(schema: JsonSchema): SchemaWords {
  return { stated: strictInstruction(schema), enforced: strictInstruction() }
}

/** The failing text, what is wrong with it and the schema; nothing of the task, and no secret (FSD-38). */
export function repairWords(text: string, issues: readonly Issue[], schema: JsonSchema): Words {
  const schemaWords = strictWords(schema)
  return {
    system: [
      'You repair JSON. Change as little as possible and invent nothing.',
      'If it cannot be repaired, answer {"repair_error": true, "reasoning": "why"}.',
      schemaWords.stated,
    ].join('\n'),
    prompt: `${feedback(issues)}\n\nThe text:\n${text}`,
    schemaWords,
  }
}

/** The task once more, in stricter words; nothing of the answer that was not accepted goes in. */
export function stricterWords(task: Words, schema: JsonSchema): Words {
  return inOtherWords(task, strictWords(schema))
}

/** `extract_from_text`: the value out of what the model has written already. */
export function extractWords(text: string, schema: JsonSchema): Words {
  const schemaWords = strictWords(schema)
  return {
    system: `You extract structured data from a text. Use only what the text says.\n${schemaWords.stated}`,
    prompt: `The text:\n${text}`,
    schemaWords,
  }
}

/** The task with a flat schema of strings, for models that fail on the full one. */
export function simplifiedWords(task: Words, flat: JsonSchema): Words {
  return inOtherWords(task, strictWords(flat))
}

/** The task with its schema requested in other words. */
function inOtherWords({ system, prompt, schemaWords: earlier }: Words, schemaWords: SchemaWords): Words {
  const begin = withoutSchema({ system, schemaWords: earlier && { ...earlier, enforced: '' } }).trimEnd()
  return { system: `${begin}\n\n${schemaWords.stated}`.trimStart(), prompt, schemaWords }
}
