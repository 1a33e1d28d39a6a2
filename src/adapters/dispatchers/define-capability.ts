/** How a program says what it can do: a capability's data together with the function behind it. */
import { ProvisoError } from '../../base/error.ts'
import type { Capability } from '../../domain/capability.ts'
import { parseCapability } from '../../domain/parse-capability.ts'
import type { LocalFunction } from './local.ts'

/** The wire names, plus what only a program can give. Everything but the id and the two contracts has a default. */
export interface CapabilityDefinition
  extends Partial<Omit<Capability, 'capabilityId' | 'inputContract' | 'outputContract'>>,
    Pick<Capability, 'capabilityId' | 'inputContract' | 'outputContract'> {
  /** For kind `local` (the default): does the work. */
  readonly run?: LocalFunction
}

export interface DefinedCapability {
  readonly capability: Capability
  readonly run?: LocalFunction
}

/**
 * Checks a definition and fills its defaults; throws `option/invalid` with every issue.
 *
 * @example
 * const greet = defineCapability({
 *   capabilityId: 'greet',
 *   inputContract: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
 *   outputContract: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
 *   run: (inputs) => ({ greeting: `Hello, ${(inputs as { name: string }).name}` }),
 * })
 */
export function defineCapability(definition: CapabilityDefinition): DefinedCapability {
  const { run, ...data } = definition
  const parsed = parseCapability(data)
  if (!parsed.ok)
    throw new ProvisoError(
      'option/invalid',
      `The capability ${nameOf(definition)}cannot be used: ${parsed.issues[0]?.message ?? ''}`,
      { issues: parsed.issues },
    )
  if (parsed.value.kind === 'local' && !run)
    throw new ProvisoError('option/invalid', `The capability "${definition.capabilityId}" has no function`, {
      hint: 'Give it `run`, or another `kind`',
    })
  return { capability: parsed.value, ...(run && { run }) }
}

/** Its id, as far as it has one: that may be the very thing that is missing. */
const nameOf = ({ capabilityId }: CapabilityDefinition): string =>
  typeof capabilityId === 'string' ? `"${capabilityId}" ` : ''

/** For capabilities that come with the package: checked when somebody looks, for whoever only loads it should not wait. */
export function defineLater(
  definition: CapabilityDefinition & { readonly run: LocalFunction },
): DefinedCapability {
  let capability: Capability | undefined
  return {
    get capability() {
      capability ??= defineCapability(definition).capability
      return capability
    },
    run: definition.run,
  }
}
