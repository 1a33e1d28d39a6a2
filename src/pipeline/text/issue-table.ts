/**
 * Codes of the issues that pipelines, templates and configuration files are reported with, one row each: the type of
 * `code` and the reference are derived from it. Lint rules are in `lint/rule-table.ts`.
 */
import { draftIssueTable } from '../../domain/parse/issue-table.ts'
import {
  conditionIssueTable,
  refusedSchemaTable,
  type ViolationCode,
  violationTable,
} from '../../schema/issue-table.ts'

const ownTable = {
  'pipeline/file': 'the file cannot be read',
  'pipeline/utf-8': 'the file is not UTF-8',
  'pipeline/yaml': 'the file is not YAML 1.2',
  'pipeline/limit': 'the file or the pipeline exceeds a limit',
  'pipeline/key': 'a key is a list or a map',
  'pipeline/duplicate-key': 'a key is given twice',
  'pipeline/value': 'JSON cannot hold the value exactly, or a merge key takes no map',
  'pipeline/alias': 'an alias names no anchor above it',
  'pipeline/shape': 'a list or a map is expected',
  'pipeline/kind': 'the kind of step is not known',
  'pipeline/duplicate-name': 'two steps have the same name',
  'pipeline/unknown': 'a name is not defined',
  'pipeline/unread': 'the key has no effect here',
  'pipeline/worker': 'the step names no agent or capability, or both',
  'pipeline/tool': 'the tool of an agent cannot be used, or is not known',
  'pipeline/settings': 'an option of a provider would replace what limits and prices depend on',
  'pipeline/contract': 'the RAO contract of the step cannot be used',
  'pipeline/conditional': 'the conditional step has no condition, or branches that do not match it',
  'pipeline/template': 'the template expression cannot be read',
  'pipeline/expression': 'the expression of a condition cannot be read, or conditions cannot express it',
  'pipeline/fields': '`validate_fields` names something that the schema does not have',
  'pipeline/output': 'the output can never satisfy the schema',
  'pipeline/params': 'the parameters do not fit the capability',
  'pipeline/merge': 'the branches of a parallel step cannot be merged in this way',
  'pipeline/not-mergeable': 'the output of the step is not a map and cannot go into the context',
  'pipeline/sink': '`sink_to` does not name a member of the context',
  'pipeline/fallback': 'the fallback cannot be used for the step',
  'pipeline/map': 'the map goes over something that is not a list',
  'pipeline/precheck-key': 'warning: nothing puts the key of the precheck into the context before the step',
  'pipeline/promoted': 'note: the schema of the step turned on structured output',
  'pipeline/import': 'the imported pipeline was not loaded',
  'pipeline/import-limits': 'warning: the limits of an imported pipeline have no effect',
  'pipeline/input': 'the input does not satisfy the input schema',
  'import/failed': 'the imported pipeline has issues or cannot be read',
  'import/circle': 'pipelines import each other',
  'import/outside': 'the file is outside the folder of the pipeline',
  'import/prompt': 'the prompt file cannot be read',
  'import/variable': 'a variable of the prompt file is not given',
  'template/utf-8': 'the template is not UTF-8',
  'template/xml': 'the template is not well-formed XML',
  'template/encoding': 'the template declares another encoding than UTF-8',
  'template/doctype': 'the template has a document type',
  'template/instruction': 'the template has a processing instruction',
  'template/limit': 'the template exceeds a limit',
  'template/shape': 'an element, an attribute or a text is not expected here',
  'template/empty': 'the template has no tasks',
  'template/argument': 'an argument is missing, or not a parameter of the template',
  'template/type': 'the declared type differs from the one that is needed',
  'template/unknown-template': 'the template that is called does not exist',
  'template/unknown-name': 'a name is not defined',
  'template/depth': 'templates call each other too deeply',
  'template/input': 'an input is missing, unknown or lacks what the template reads',
  'template/test': 'the test of a condition cannot be read',
  'config/toml': 'the file is not TOML',
  'config/file': 'the file cannot be read',
  'config/value': 'a variable or flag names no setting, or has a value that the setting does not allow',
  ...refusedSchemaTable,
  ...conditionIssueTable,
} as const satisfies Record<string, string>

type AfterSlash<Code extends string> = Code extends `${string}/${infer Problem}` ? Problem : never

/** Violations of the schema of a file: the keyword after the kind of file. */
export type FileViolationCode = `${'pipeline' | 'config'}/${AfterSlash<ViolationCode>}`

/** What the draft of a pipeline is reported for is an issue of the pipeline. */
type CompiledDraftCode = `pipeline/${AfterSlash<keyof typeof draftIssueTable>}`

/** Code of an issue of `parsePipeline`, `compilePipeline`, `parseTemplate`, `readConfig` and the other functions on files. */
export type PipelineIssueCode = keyof typeof ownTable | FileViolationCode | CompiledDraftCode

export const pipelineIssueTable: Readonly<Record<PipelineIssueCode, string>> = {
  ...rename(violationTable, 'config'),
  ...rename(violationTable, 'pipeline'),
  ...rename(draftIssueTable, 'pipeline'),
  ...ownTable,
}

function rename<Code extends string, Kind extends string>(
  table: Readonly<Record<Code, string>>,
  kind: Kind,
): Record<`${Kind}/${AfterSlash<Code>}`, string> {
  const rows = Object.entries<string>(table).map(([code, says]) => [code.replace(/^[^/]+/, kind), says])
  // Keys of entries have no literal types.
  return Object.fromEntries(rows)
}
