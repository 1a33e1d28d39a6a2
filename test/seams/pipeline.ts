/** Test seam: schemas and limits of pipelines and templates. */
export { stepSchemas } from '../../src/pipeline/parse/pipeline-schema.ts'
export { pipelineIssueTable } from '../../src/pipeline/text/issue-table.ts'
export { deepestCalls } from '../../src/pipeline/xml/compile/compile-context.ts'
export { mostNodes } from '../../src/pipeline/xml/compile/draft-builder.ts'
