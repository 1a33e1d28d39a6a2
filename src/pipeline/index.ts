/** The door `proviso/pipeline`: plans written by hand, as YAML or XML. */
export { type ReadYaml, readYaml, type YamlDocument } from './read-yaml.ts'
export { yamlLimits } from './scan-yaml.ts'
export { describeSourceIssue, type Source, type SourceIssue } from './source.ts'
export {
  type CompiledTemplate,
  compileTemplate,
  parseTemplate,
  type TemplateCapability,
  type TemplateFile,
  templateCapabilities,
  templateRefusal,
  templateResult,
  xmlLimits,
  xmlTooLarge,
} from './xml/index.ts'
