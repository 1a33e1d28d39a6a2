/**
 * Profiles set the severities of rules: from a file, from `[validation.profiles.NAME]` of `proviso.toml`, or
 * built in.
 */
import { parse as parseToml, TomlError } from 'smol-toml'
import { isObject } from '../../base/json.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { matches } from './glob.ts'
import { type Severity, severities } from './rule.ts'
import { ruleTable } from './rule-table.ts'

/** Globs of rules and their severities; the last match wins. */
export type Profile = readonly (readonly [glob: string, severity: Severity])[]

type ReadProfile = { readonly profile: Profile } | { readonly problem: string; readonly hint: string }

const builtinProfiles: Readonly<Record<string, Profile>> = {
  /** The severities of the rules themselves. */
  default: [],
  /** Every finding fails the check. */
  strict: [['*', 'error']],
}

/** Reads a file of globs and severities: `"V-A*" = "error"` in TOML, `V-A*: error` in YAML or JSON. */
export function readProfileFile(text: string, name: string): ReadProfile {
  if (name.endsWith('.toml')) {
    const table = readToml(text)
    return 'problem' in table ? table : parseProfile(table.value, name)
  }
  const read = readYaml(text, name)
  if (read.ok) return parseProfile(read.document.value, name)
  return { problem: `${name}: ${read.issues[0]?.message}`, hint: read.issues[0]?.hint ?? shape }
}

/** `[validation.profiles]` of `proviso.toml`, as read. */
export type Profiles = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Finds a profile by name, in the configuration or among the built-in ones. */
export function namedProfile(name: string, profiles: Profiles): ReadProfile {
  if (Object.hasOwn(profiles, name)) return parseProfile(profiles[name], `[validation.profiles.${name}]`)
  const builtin = Object.hasOwn(builtinProfiles, name) ? builtinProfiles[name] : undefined
  if (builtin) return { profile: builtin }
  const names = [...Object.keys(builtinProfiles), ...Object.keys(profiles)]
  return {
    problem: `file or profile "${name}" not found`,
    hint: `Profiles: ${names.join(', ')}; add others to proviso.toml under [validation.profiles.NAME]`,
  }
}

const shape = `Map globs of rules to ${severities.join(', ')}, for example "V-A*" = "error"`

function parseProfile(value: unknown, name: string): ReadProfile {
  if (!isObject(value)) return { problem: `${name} is no map of rules`, hint: shape }
  const profile: [string, Severity][] = []
  for (const [glob, said] of Object.entries(value)) {
    // Configuration files write `info` for notes, as loggers do.
    const severity = said === 'info' ? 'note' : said
    if (!severities.some((known) => known === severity))
      return { problem: `${name}: "${glob}" has the severity ${JSON.stringify(said)}`, hint: shape }
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
