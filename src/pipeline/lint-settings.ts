/** The settings that rules go by. */
import type { ArosConfig } from './aros-config.ts'

export interface LintSettings {
  /** `aros.structured_output_default`: what holds for steps that say nothing. */
  readonly structuredOutput: string
  /** `aros.auto_promote`: agents with an object or list schema switch structured output on for their steps. */
  readonly autoPromote: boolean
}

export const defaultLintSettings: LintSettings = { structuredOutput: 'off', autoPromote: true }

/** What the configuration means for linting. */
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
