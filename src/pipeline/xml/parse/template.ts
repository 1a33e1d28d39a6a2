/**
 * The parsed model of a template file, with ranges. Produced by `parse-template.ts`, consumed by
 * `compile-template.ts`.
 */
import type { TextRange } from '../../../base/errors/issue.ts'
import type { OutputFormat } from '../../../output/index.ts'
import type { Source } from '../../text/source.ts'
import type { Expression } from './expression.ts'

/** A node that yields a value. */
export type BodyNode = TaskNode | CallNode | CondNode | ExpressionNode

interface Located {
  readonly range: TextRange
}

/** `outputSlot` is the name by which later steps of the same sequence see the value. */
interface Slotted extends Located {
  readonly outputSlot?: string
}

/** Which visible values a task gets without naming them. */
export interface ContextRules {
  /** `full`: all visible values. Default `none`: only what the task names. */
  readonly inherit: 'full' | 'none'
  /** Steps of a sequence also get the results of the steps before them. Default false. */
  readonly accumulate: boolean
}

export type TaskNode = AtomicTask | SequentialTask | ReduceTask

export interface TaskBase extends Slotted {
  readonly kind: 'task'
  readonly name?: string
  readonly description: DescriptionText
  /** `provider/model`. Absent: chosen when the template runs. */
  readonly provider?: string
  /** A visible name whose value is the input of the task. */
  readonly inputSource?: NamedExpression
  readonly inputs: readonly InputNode[]
  readonly outputFormat?: OutputFormat
  /** Range of the declaration, for messages. */
  readonly formatRange?: TextRange
  readonly context: ContextRules
}

export interface AtomicTask extends TaskBase {
  readonly type: 'atomic'
}

export interface SequentialTask extends TaskBase {
  readonly type: 'sequential'
  readonly steps: readonly BodyNode[]
}

/** Runs each input through the inner task, then folds the results into the accumulator. */
export interface ReduceTask extends TaskBase {
  readonly type: 'reduce'
  readonly initialValue?: string
  readonly inner: BodyNode
  readonly reduction: BodyNode
}

export interface InputNode extends Located {
  readonly name: string
  readonly from: BodyNode
}

export interface CallNode extends Slotted {
  readonly kind: 'call'
  readonly template: string
  readonly args: readonly ArgNode[]
}

export interface ArgNode extends Located {
  /** Absent: positional. */
  readonly name?: string
  readonly value: BodyNode
}

export interface CondNode extends Slotted {
  readonly kind: 'cond'
  readonly cases: readonly CaseNode[]
}

export interface CaseNode extends Located {
  /** Absent for the last case, which is taken when no other matches. */
  readonly test?: { readonly text: string; readonly range: TextRange }
  readonly body: BodyNode
}

export interface ExpressionNode extends Slotted {
  readonly kind: 'expression'
  readonly expression: Expression
}

/** Text with `{{…}}` in it. */
export interface DescriptionText extends Located {
  /** Expressions are in canonical form, which is also the name of the input. */
  readonly text: string
  readonly expressions: readonly NamedExpression[]
}

export interface NamedExpression {
  /** The canonical text of the expression. */
  readonly name: string
  readonly node: ExpressionNode
}

export interface TemplateNode extends Located {
  readonly name: string
  readonly params: readonly string[]
  /** Short name of a type. */
  readonly returns?: string
  readonly body: BodyNode
}

export interface TemplateFile {
  readonly source: Source
  readonly templates: ReadonlyMap<string, TemplateNode>
  /** What a run executes: the task of the file, or its only template. */
  readonly main: BodyNode | TemplateNode
}
