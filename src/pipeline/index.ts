/** Entry point `proviso/pipeline`: plans written by hand, as YAML or XML. */

export { listPipelineCapabilities } from './compile/capabilities.ts'
export {
  type CompiledPipeline,
  type CompileOptions,
  type CompileResult,
  compilePipeline,
  draftPipeline,
} from './compile/compile-pipeline.ts'
export type { PipelineCapability } from './compile/functions.ts'
export { type ArosConfig, type ArosKey, arosConfig, arosTable, presets } from './config/aros-config.ts'
export { configSchema, type ReadConfig, readConfig } from './config/read-config.ts'
export {
  type Config,
  type ConfigRequest,
  envName,
  type ResolvedConfig,
  resolveConfig,
  type Setting,
  type SettingFlag,
} from './config/resolve-config.ts'
export { planRetention, type RetentionRule } from './config/retention.ts'
export { type ServerKey, type ServerSettings, serverKeys, serverTable } from './config/server-settings.ts'
export { type CompiledExpression, compileExpression } from './expressions/compile-expression.ts'
export { type AppliedFix, type Fixed, type FixOptions, findFixableRules, fixText } from './lint/fix.ts'
export { type LintIssueCode, type LintOptions, type LintResult, lint } from './lint/lint.ts'
export { defaultLintSettings, type LintSettings, lintSettings } from './lint/lint-settings.ts'
export { namedProfile, type Profile, type Profiles, readProfileFile } from './lint/profile.ts'
export type { LintIssue, Rule, Severity } from './lint/rule.ts'
export { rulePage } from './lint/rule.ts'
export { type RuleId, ruleNamed, ruleTable } from './lint/rule-table.ts'
export {
  findUnneededRule,
  renderUnneededRule,
  type UnneededRule,
  unneededRules,
} from './lint/rules-not-needed.ts'
export { type Baseline, compareWithBaseline, createBaseline, parseBaseline } from './lint/suppress.ts'
export { seeImports, type ValidateOptions, validatePipeline } from './lint/validate.ts'
export type { SeenImport, SeenImports } from './lint/view/lint-view.ts'
export { type LoadedPipeline, type LoadOptions, loadPipeline } from './parse/load-pipeline.ts'
export { type ParsedPipeline, parsePipeline } from './parse/parse-pipeline.ts'
export type { Agent, Pipeline, Step } from './parse/pipeline.ts'
export { pipelineSchema } from './parse/pipeline-schema.ts'
export {
  countIssues,
  type JsonReport,
  type ReportColors,
  reportJson,
  reportSarif,
  reportText,
} from './report/report-issues.ts'
export { unifiedDiff } from './text/edits.ts'
export type { PipelineIssueCode } from './text/issue-table.ts'
export { describeSourceIssue, type Source, type SourceIssue } from './text/source.ts'
export {
  type CompiledTemplate,
  compileTemplate,
  type TemplateOptions,
  templateCapabilities,
  templateRefusal,
  templateResult,
} from './xml/compile/compile-template.ts'
export type { TemplateCapability } from './xml/compile/value-capability.ts'
export { type ParsedTemplate, parseTemplate } from './xml/parse/parse-template.ts'
export { xmlLimits, xmlTooLarge } from './xml/parse/read-xml.ts'
export type { TemplateFile } from './xml/parse/template.ts'
export { type ReadYaml, readYaml, tooLarge, type YamlDocument } from './yaml/read-yaml.ts'
export { yamlLimits } from './yaml/scan-yaml.ts'
