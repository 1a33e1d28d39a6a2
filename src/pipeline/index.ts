/** The door `proviso/pipeline`: plans written by hand, as YAML or XML. */
export { type ArosConfig, type ArosKey, arosConfig, arosTable, presets } from './aros-config.ts'
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
} from './config/resolve-config.ts'
export { type LoadedPipeline, type LoadOptions, loadPipeline } from './load-pipeline.ts'
export { type ParsedPipeline, parsePipeline } from './parse-pipeline.ts'
export type { Agent, Pipeline, Step } from './pipeline.ts'
export { pipelineSchema } from './pipeline-schema.ts'
export { type ReadYaml, readYaml, type YamlDocument } from './read-yaml.ts'
export { yamlLimits } from './scan-yaml.ts'
export { describeSourceIssue, type Source, type SourceIssue } from './source.ts'
export {
  type CompiledTemplate,
  compileTemplate,
  type ParsedTemplate,
  parseTemplate,
  type TemplateCapability,
  type TemplateFile,
  templateCapabilities,
  templateRefusal,
  templateResult,
  xmlLimits,
  xmlTooLarge,
} from './xml/index.ts'
