/** Profiles: how severe rules are, from a file of their own, from `[validation.profiles.NAME]` of `proviso.toml`, or built in. */
import { parse as parseToml, TomlError } from 'smol-toml'
import { isObject } from '../base/json.ts'
import { matches } from './glob.ts'
import type { Profile } from './lint.ts'
import { defaultLintSettings, type LintSettings } from './lint-view.ts'
import { readYaml } from './read-yaml.ts'
import { type Severity, severities } from './rule.ts'
import { ruleTable } from './rule-table.ts'

export type ReadProfile = { readonly profile: Profile } | { readonly problem: string; readonly hint: string }

export const builtinProfiles: Readonly<Record<string, Profile>> = {
  /** As the rules say. */
  default: [],
  /** Every finding fails the check. */
  strict: [['*', 'error']],
}

/** A file of globs and severities: `"V-A*" = "error"` in TOML, `V-A*: error` in YAML or JSON. */
export function readProfileFile(text: string, name: string): ReadProfile {
  if (name.endsWith('.toml')) {
    const table = readToml(text)
    return 'problem' in table ? table : profileOf(table.value, name)
  }
  const read = readYaml(text, name)
  if (read.ok) return profileOf(read.document.value, name)
  return { problem: `${name}: ${read.issues[0]?.message}`, hint: read.issues[0]?.hint ?? shape }
}

/** A profile by name, from the text of `proviso.toml` if there is one. */
export function readNamedProfile(name: string, toml: string | undefined): ReadProfile {
  const table = toml === undefined ? { value: {} } : readToml(toml)
  if ('problem' in table) return table
  const profiles = memberOf(memberOf(table.value, 'validation'), 'profiles')
  const found = memberOf(profiles, name)
  if (found !== undefined) return profileOf(found, `[validation.profiles.${name}]`)
  const builtin = Object.hasOwn(builtinProfiles, name) ? builtinProfiles[name] : undefined
  if (builtin) return { profile: builtin }
  const names = [...Object.keys(builtinProfiles), ...(isObject(profiles) ? Object.keys(profiles) : [])]
  return {
    problem: `there is no file and no profile "${name}"`,
    hint: `Profiles: ${names.join(', ')}; others stand in proviso.toml under [validation.profiles.NAME]`,
  }
}

/** The keys of `[aros]` that rules go by. */
export function readLintTable(
  toml: string | undefined,
): LintSettings | { readonly problem: string; readonly hint: string } {
  const table = toml === undefined ? { value: {} } : readToml(toml)
  if ('problem' in table) return table
  const aros = memberOf(table.value, 'aros')
  const said = memberOf(aros, 'structured_output_default')
  const preset = memberOf(aros, 'preset') === 'safe' ? 'auto' : defaultLintSettings.structuredOutput
  return {
    structuredOutput: typeof said === 'string' ? said : preset,
    autoPromote: memberOf(aros, 'auto_promote') === true,
  }
}

const shape = `Map globs of rules to ${severities.join(', ')}, for example "V-A*" = "error"`

function profileOf(value: unknown, name: string): ReadProfile {
  if (!isObject(value)) return { problem: `${name} is no map of rules`, hint: shape }
  const profile: [string, Severity][] = []
  for (const [glob, severity] of Object.entries(value)) {
    if (!severities.some((known) => known === severity))
      return { problem: `${name}: "${glob}" has the severity ${JSON.stringify(severity)}`, hint: shape }
    if (!ruleTable.some(({ id }) => matches(id, glob)))
      return {
        problem: `${name}: no rule is called "${glob}"`,
        hint: `Rules: ${ruleTable.map(({ id }) => id).join(', ')}`,
      }
    profile.push([glob, severity as Severity])
  }
  return { profile }
}

function readToml(
  text: string,
): { readonly value: unknown } | { readonly problem: string; readonly hint: string } {
  try {
    return { value: parseToml(text) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return {
      problem: `line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]}`,
      hint: 'Correct the TOML',
    }
  }
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
