/** The door `proviso/pipeline`: plans written by hand, as YAML. */
export { type ReadYaml, readYaml, type YamlDocument } from './read-yaml.ts'
export { yamlLimits } from './scan-yaml.ts'
export { describeSourceIssue, type Source, type SourceIssue } from './source.ts'
