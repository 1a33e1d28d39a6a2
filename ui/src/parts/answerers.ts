/** What can answer the messages of a new thread: a plan that the server makes, or one capability that reads a text. */
import type { RunDraft, SayOptions } from 'proviso/client'

export interface Answerer {
  readonly name: string
  readonly envelope: NonNullable<SayOptions['envelope']>
  readonly draft?: RunDraft
}

interface Schema {
  readonly type?: unknown
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
}
interface Capability {
  readonly capabilityId: string
  readonly displayName?: string
  readonly kind?: string
  readonly status?: string
  readonly inputContract?: unknown
  readonly outputContract?: unknown
  readonly contracts?: { readonly input?: unknown; readonly output?: unknown }
}

/** The planner chooses; the message is the objective. */
export const plainAnswer: Answerer = {
  name: 'The planner, in words',
  envelope: {
    outputContract: {
      schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    },
  },
}

/** Agents and models that need one text: the message is bound to it. */
export function answerers(capabilities: readonly Capability[]): readonly Answerer[] {
  return capabilities.flatMap(({ capabilityId, displayName, kind, status, ...given }) => {
    if (status === 'inactive' || kind === 'local' || kind === 'human') return []
    const input = toSchema(given.contracts?.input ?? given.inputContract)
    const output = toSchema(given.contracts?.output ?? given.outputContract)
    const member = input && findText(input)
    if (output === undefined || member === undefined) return []
    const inputs = { [member]: { envelope: '/inputs/message' } }
    return {
      name: displayName && displayName !== capabilityId ? `${displayName} (${capabilityId})` : capabilityId,
      envelope: { outputContract: { schema: { ...output } } },
      draft: { nodes: [{ id: 'answer', capabilityId, inputs }], output: { node: 'answer' } },
    }
  })
}

function toSchema(given: unknown): Schema | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined
  return ('schema' in given ? given.schema : given) as Schema
}

/** The one member that has to be given, if it is a text; else the one text that there is. */
function findText({ properties = {}, required = [] }: Schema): string | undefined {
  const names = required.length > 0 ? required : Object.keys(properties)
  const [name] = names
  return names.length === 1 && name !== undefined && properties[name]?.type === 'string' ? name : undefined
}
