/** A template file as data: what the elements of a file say, each with its place. Made by `parse-template.ts`, read by `compile-template.ts`. */
import type { Span } from '../../base/issue.ts'
import type { OutputFormat } from '../../output/index.ts'
import type { Source } from '../source.ts'
import type { Expression } from './expression.ts'

/** Something that yields a value. */
export type BodyNode = TaskNode | CallNode | CondNode | ExpressionNode

interface Placed {
  readonly span: Span
}

/** The name under which later steps of the same sequence see the value. */
interface Slotted extends Placed {
  readonly outputSlot?: string
}

/** How much of what is visible around a task goes into it without being named. */
export interface ContextRules {
  /** `full`: everything that is visible. Default `none`: what the task names. */
  readonly inherit: 'full' | 'none'
  /** Steps of a sequence also get what the steps before them returned. Default false. */
  readonly accumulate: boolean
}

export type TaskNode = AtomicTask | SequentialTask | ReduceTask

export interface TaskBase extends Slotted {
  readonly kind: 'task'
  readonly name?: string
  readonly description: DescriptionText
  /** `provider/model`; whoever runs the template chooses when it is absent. */
  readonly provider?: string
  /** One visible name whose value is the task's input. */
  readonly inputSource?: NamedExpression
  readonly inputs: readonly InputNode[]
  readonly outputFormat?: OutputFormat
  /** Of the declaration, for messages. */
  readonly formatSpan?: Span
  readonly context: ContextRules
}

export interface AtomicTask extends TaskBase {
  readonly type: 'atomic'
}

export interface SequentialTask extends TaskBase {
  readonly type: 'sequential'
  readonly steps: readonly BodyNode[]
}

/** Each input through the inner task, then one after the other into the accumulator. */
export interface ReduceTask extends TaskBase {
  readonly type: 'reduce'
  readonly initialValue?: string
  readonly inner: BodyNode
  readonly reduction: BodyNode
}

export interface InputNode extends Placed {
  readonly name: string
  readonly from: BodyNode
}

export interface CallNode extends Slotted {
  readonly kind: 'call'
  readonly template: string
  readonly args: readonly ArgNode[]
}

export interface ArgNode extends Placed {
  /** Absent: by position. */
  readonly name?: string
  readonly value: BodyNode
}

export interface CondNode extends Slotted {
  readonly kind: 'cond'
  readonly cases: readonly CaseNode[]
}

export interface CaseNode extends Placed {
  /** Absent for the last one: taken when no other is. */
  readonly test?: { readonly text: string; readonly span: Span }
  readonly body: BodyNode
}

export interface ExpressionNode extends Slotted {
  readonly kind: 'expression'
  readonly expression: Expression
}

/** Text with `{{…}}` in it. */
export interface DescriptionText extends Placed {
  /** Every expression written in one way, so that it is also the name of the input. */
  readonly text: string
  readonly expressions: readonly NamedExpression[]
}

export interface NamedExpression {
  /** The expression as it is written in the text. */
  readonly name: string
  readonly node: ExpressionNode
}

export interface TemplateNode extends Placed {
  readonly name: string
  readonly params: readonly string[]
  /** A short type name. */
  readonly returns?: string
  readonly body: BodyNode
}

export interface TemplateFile {
  readonly source: Source
  readonly templates: ReadonlyMap<string, TemplateNode>
  /** What a run of the file does: a task of its own, or the one template that it consists of. */
  readonly main: BodyNode | TemplateNode
}
