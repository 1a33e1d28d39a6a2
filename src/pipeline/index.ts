/** The door `proviso/pipeline`: plans written by hand, as YAML or XML. */
export { type ArosConfig, type ArosKey, arosConfig, arosTable, presets } from './aros-config.ts'
export { type Baseline, baselineOf, compareWithBaseline, parseBaseline } from './baseline.ts'
export { capabilitiesOf } from './compile/capabilities.ts'
export type { PipelineCapability } from './compile/functions.ts'
export {
  type CompiledPipeline,
  type CompileOptions,
  type CompileResult,
  compilePipeline,
} from './compile-pipeline.ts'
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
export { type ServerKey, type ServerSettings, serverKeys, serverTable } from './config/server-settings.ts'
export { type AppliedFix, type Fixed, type FixOptions, fixText, mendable } from './fix.ts'
export { type LintOptions, type LintResult, lint, type Profile } from './lint.ts'
export { defaultLintSettings, type LintSettings, lintSettings } from './lint-settings.ts'
export type { SeenImport, SeenImports } from './lint-view.ts'

export { type LoadedPipeline, type LoadOptions, loadPipeline } from './load-pipeline.ts'
export { type ParsedPipeline, parsePipeline } from './parse-pipeline.ts'
export type { Agent, Pipeline, Step } from './pipeline.ts'
export { pipelineSchema } from './pipeline-schema.ts'
export { namedProfile, type Profiles, readProfileFile } from './profile.ts'
export { type ReadYaml, readYaml, tooLarge, type YamlDocument } from './read-yaml.ts'
export { type JsonReport, reportJson } from './report-json.ts'
export { reportSarif } from './report-sarif.ts'
export { countIssues, type ReportColors, reportText } from './report-text.ts'
export type { LintIssue, Rule, Severity } from './rule.ts'
export { rulePage } from './rule-page.ts'
export { ruleNamed, ruleTable } from './rule-table.ts'
export { type ElsewhereRule, elsewhereNamed, elsewherePage, elsewhereTable } from './rules-elsewhere.ts'
export { yamlLimits } from './scan-yaml.ts'
export { seeImports } from './see-imports.ts'
export { describeSourceIssue, type Source, type SourceIssue } from './source.ts'
export { unifiedDiff } from './unified-diff.ts'
export { type ValidateOptions, validatePipeline } from './validate.ts'
export {
  type CompiledTemplate,
  compileTemplate,
  type ParsedTemplate,
  parseTemplate,
  type TemplateCapability,
  type TemplateFile,
  type TemplateOptions,
  templateCapabilities,
  templateRefusal,
  templateResult,
  xmlLimits,
  xmlTooLarge,
} from './xml/index.ts'
