/** Settings of the configuration that rules depend on. */
import type { ArosConfig } from '../config/aros-config.ts'

export interface LintSettings {
  /** `aros.structured_output_default`: the mode of steps that set none. */
  readonly structuredOutput: string
  /** `aros.auto_promote`: agents with an object or list schema enable structured output for their steps. */
  readonly autoPromote: boolean
}

export const defaultLintSettings: LintSettings = { structuredOutput: 'off', autoPromote: true }

/** Derives the lint settings from the configuration. */
export function lintSettings({
  enabled,
  structuredOutputDefault,
  autoPromote,
  said,
}: ArosConfig): LintSettings {
  return {
    structuredOutput: enabled ? structuredOutputDefault : 'off',
    autoPromote: enabled && autoPromote && !said.has('structured_output_default'),
  }
}
