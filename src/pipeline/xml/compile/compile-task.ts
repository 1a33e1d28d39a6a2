/**
 * Compiles `<task>`: a model node, a sequence of steps, or a reduction over inputs, with the declared output
 * format.
 */

import type { Json } from '../../../base/json.ts'
import type { GivenProcessing } from '../../../domain/draft/processing.ts'
import type { Source } from '../../../domain/plan.ts'
import { detectJson, type OutputFormat } from '../../../output/index.ts'
import { answerId } from '../../../plan/index.ts'
import type { AtomicTask, BodyNode, ReduceTask, SequentialTask, TaskNode } from '../parse/template.ts'
import {
  addNode,
  type Compiling,
  formatName,
  handedOn,
  joined,
  nothing,
  say,
  toFormatSchema,
} from './compile-context.ts'
import { compileExpression } from './compile-expression.ts'
import type { NodeContext } from './draft-builder.ts'
import { createScope, extended, fixed, type Made, type Scope, type Value } from './value.ts'

interface Around {
  readonly scope: Scope
  readonly context: NodeContext
}

export function compileTask(compiling: Compiling, task: TaskNode, around: Around): Made {
  const wanted = joined(task.outputFormat, around.context.wanted)
  if (wanted === 'conflict') {
    const [own, outer] = [task.outputFormat, around.context.wanted].map(
      (format) => format && formatName(format),
    )
    say(compiling, task.formatRange ?? task.range, {
      code: 'template/type',
      message: `the output is declared as ${own ?? ''}, but ${outer ?? ''} is wanted of it here`,
      hint: 'Make both say the same',
    })
    return nothing
  }
  const { wanted: _joined, ...rest } = around.context
  const context: NodeContext = { ...rest, ...(wanted && { wanted }) }
  switch (task.type) {
    case 'atomic':
      return compileAtomic(compiling, task, { ...around, context })
    case 'sequential':
      return compileSequence(compiling, task, { ...around, context })
    case 'reduce':
      return compileReduce(compiling, task, { ...around, context })
  }
}

/** `{{name}}` stays in the text and the value is passed as data, so that values cannot inject instructions. */
const aboutNames = 'A name in double braces stands for the input of that name.'

function compileAtomic(compiling: Compiling, task: AtomicTask, { scope, context }: Around): Made {
  const { wanted, ...before } = context
  const given = getInputs(compiling, task, { scope, context: before })
  const visible = extended(scope, given)
  const inputs = new Map<string, readonly Source[]>()
  if (task.context.inherit === 'full')
    for (const name of scope.names) inputs.set(name, scope.get(name)?.read() ?? [])
  for (const values of [context.also ?? new Map<string, Value>(), given])
    for (const [name, value] of values) inputs.set(name, value.read())
  for (const { name, node } of task.description.expressions)
    inputs.set(name, compileExpression(compiling, node, { scope: visible, context: before }).value.read())
  const { description, provider, range } = task
  const named = description.expressions.length > 0
  const schema = toFormatSchema(wanted)
  const id = addNode(
    compiling,
    {
      name: task.name ?? task.outputSlot ?? 'task',
      capabilityId: provider === undefined ? answerId : modelId(provider),
      inputs,
      contracts: { input: { type: 'object', required: [...inputs.keys()] }, output: schema },
      instructions: named ? `${description.text}\n\n${aboutNames}` : description.text,
      ...toData(wanted, compiling.settings),
    },
    { context: before, range },
  )
  return { value: toResult(compiling, id, { wanted, task, context: before }), exits: [id] }
}

/**
 * Tolerates variants of JSON syntax, but not other types: a declared type must match. Explicit settings
 * override this; a text stays a text, even if they enable structured output.
 */
function toData(format: OutputFormat | undefined, settings: GivenProcessing): { data?: Data } {
  const isText = format === undefined || format.type === 'text'
  const ofTexts = Object.entries(settings).filter(
    ([key, value]) => value === 'off' || !['structured_output', 'aop'].includes(key),
  )
  const processing: GivenProcessing = isText ? Object.fromEntries(ofTexts) : { aop: 'minimal', ...settings }
  const outputFormat = format && {
    type: format.type,
    ...(format.schema !== undefined && { schema: format.schema }),
  }
  const data = {
    ...(outputFormat && { outputFormat }),
    ...(Object.keys(processing).length > 0 && { processing }),
  }
  return Object.keys(data).length > 0 ? { data } : {}
}

type Data = { readonly [key: string]: Json }

export function modelId(provider: string): string {
  return `proviso.template.model:${provider}`
}

/**
 * Declared output is already a JSON value. For other output, a node that detects JSON is added lazily, when
 * the value is first read.
 */
function toResult(
  compiling: Compiling,
  id: string,
  { wanted, task, context }: { wanted: OutputFormat | undefined; task: AtomicTask; context: NodeContext },
): Value {
  if (wanted !== undefined) return { schema: toFormatSchema(wanted), read: () => [{ node: id }] }
  const text: Value = { schema: { type: 'string' }, read: () => [{ node: id }] }
  let native: readonly Source[] | undefined
  return {
    schema: true,
    read() {
      native ??= handedOn(compiling, text, {
        context: { ...context, prefix: '', after: [] },
        range: task.range,
        name: `${id}.value`,
        detect: true,
      }).value.read()
      return native
    },
  }
}

/** The inputs that the task itself declares. */
function getInputs(compiling: Compiling, task: TaskNode, { scope, context }: Around): Map<string, Value> {
  const values = new Map<string, Value>()
  if (task.inputSource)
    values.set(
      task.inputSource.name,
      compileExpression(compiling, task.inputSource.node, { scope, context }).value,
    )
  for (const { name, from } of task.inputs) values.set(name, compiling.compile(from, scope, context).value)
  return values
}

function compileSequence(compiling: Compiling, task: SequentialTask, { scope, context }: Around): Made {
  const { wanted, ...before } = context
  let visible = extended(scope, getInputs(compiling, task, { scope, context: before }))
  const also = new Map(context.also ?? [])
  let after = context.after
  let last = nothing
  for (const [index, step] of task.steps.entries()) {
    const isLast = index === task.steps.length - 1
    const here: NodeContext = {
      ...before,
      after,
      also: new Map(also),
      ...(isLast && wanted && { wanted }),
    }
    last = compiling.compile(step, visible, here)
    if (last.exits.length > 0) after = last.exits
    const { outputSlot } = step
    if (outputSlot !== undefined) visible = extended(visible, new Map([[outputSlot, last.value]]))
    if (task.context.accumulate) also.set(outputSlot ?? `step${index + 1}`, last.value)
  }
  return { value: last.value, exits: after === context.after ? [] : after }
}

/** Unrolls the reduction: one round per input. */
function compileReduce(compiling: Compiling, task: ReduceTask, { scope, context }: Around): Made {
  const { wanted, ...before } = context
  const inputs = getInputs(compiling, { ...task, inputs: [] } as TaskNode, { scope, context: before })
  let accumulator: Value | undefined =
    task.initialValue === undefined ? undefined : fixed(detectJson(task.initialValue).value as Json)
  let after = context.after
  const round = (body: BodyNode, values: ReadonlyMap<string, Value>, at: NodeContext) => {
    const made = compiling.compile(body, extended(createScope(inputs), values), { ...at, after })
    if (made.exits.length > 0) after = made.exits
    return made.value
  }
  for (const [index, { name, from }] of task.inputs.entries()) {
    const input = compiling.compile(from, scope, before).value
    const isLast = index === task.inputs.length - 1
    const called = fixed(name)
    const own = new Map([
      ['input', input],
      ['name', called],
    ])
    const onlyOne = isLast && accumulator === undefined
    const result = round(task.inner, own, onlyOne && wanted ? { ...before, wanted } : before)
    if (accumulator === undefined) accumulator = result
    else
      accumulator = round(
        task.reduction,
        new Map([...own, ['accumulator', accumulator], ['result', result]]),
        isLast && wanted ? { ...before, wanted } : before,
      )
  }
  return { value: accumulator ?? fixed(null), exits: after === context.after ? [] : after }
}
