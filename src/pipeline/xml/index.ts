/** Templates: plans written by hand, as XML. The part of `proviso/pipeline` that is about them. */
export {
  type CompiledTemplate,
  type CompileResult,
  compileTemplate,
  type TemplateOptions,
  templateCapabilities,
} from './compile/compile-template.ts'
export { type TemplateRun, templateRefusal, templateResult } from './compile/template-result.ts'
export { type TemplateCapability, valueCapability } from './compile/value-capability.ts'
export { type ParsedTemplate, parseTemplate } from './parse/parse-template.ts'
export { type ReadXml, readXml, xmlLimits, xmlTooLarge } from './parse/read-xml.ts'
export type { TaskNode, TemplateFile, TemplateNode } from './parse/template.ts'
