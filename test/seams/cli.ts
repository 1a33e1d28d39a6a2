/** Test seam: what commands print and how they locate problems. */

export { describeHealth } from '../../src/cli/commands/health-check.ts'
export { type Diagnostic, problemLine, toDiagnostics } from '../../src/cli/diagnostics/diagnostics.ts'
export { locateResult } from '../../src/cli/diagnostics/locate-result.ts'
export { exitTable } from '../../src/cli/exit-codes.ts'
export { createProgress } from '../../src/cli/live/progress.ts'
export { treeLines } from '../../src/cli/live/tree-lines.ts'
export { colors } from '../../src/cli/print.ts'
export { describeRun, loadRun } from '../../src/cli/render/describe-run.ts'
export { isOn } from '../../src/cli/serve/open-app.ts'
export { getSandboxRoutes, logOptions } from '../../src/cli/serve/serve.ts'
