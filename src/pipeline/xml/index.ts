/** Templates: plans written by hand, as XML. What `proviso/pipeline` shows of them. */
export {
  type CompiledTemplate,
  type CompileResult,
  compileTemplate,
  type TemplateOptions,
  templateCapabilities,
} from './compile-template.ts'
export { type ParsedTemplate, parseTemplate } from './parse-template.ts'
export { type ReadXml, readXml, xmlLimits, xmlTooLarge } from './read-xml.ts'
export type { TaskNode, TemplateFile, TemplateNode } from './template.ts'
export { type TemplateRun, templateRefusal, templateResult } from './template-result.ts'
export { type TemplateCapability, valueCapability } from './value-capability.ts'
