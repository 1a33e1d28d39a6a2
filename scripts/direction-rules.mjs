// @ts-check
/** The direction of imports as data: the picture of ARCHITECTURE.md, read by the check and by nothing else. */

const output = ['output', 'schema', 'base']
const domain = ['domain', ...output]
const plan = ['plan', ...domain]
const engine = ['engine', ...plan]

/** @type {import('./direction-check.mjs').Rules} */
export const rules = {
  // Each room (a folder of src, or a file directly in it) and the lower rooms that it may import.
  rooms: {
    base: [],
    schema: ['base'],
    output: ['schema', 'base'],
    domain: output,
    plan: domain,
    engine: plan,
    server: engine,
    pipeline: plan,
    health: domain,
    adapters: domain,
    testing: domain,
    app: ['server', 'pipeline', 'health', 'adapters', 'testing', ...engine],
    cli: ['app', 'server', 'pipeline', 'health', ...engine],
    index: ['app', 'pipeline', ...engine],
  },
  // Rooms that are doors of the package: from other rooms only these files are seen.
  doors: {
    output: ['index.ts', 'off-thread.ts'],
    plan: ['index.ts'],
    adapters: [
      'stores/open-store.ts',
      'stores/memory.ts',
      'stores/sqlite.ts',
      'stores/postgres.ts',
      'dispatchers/local.ts',
      'dispatchers/model.ts',
      'dispatchers/scripted.ts',
      'dispatchers/define-capability.ts',
    ],
    testing: ['index.ts'],
  },
  // Each dependency and the room that imports it (one, or docs/decisions/dependencies.md says why two).
  dependencies: {
    ajv: ['schema'],
    'ajv-formats': ['schema'],
    re2js: ['schema'],
    '@noble/hashes': ['base'],
    canonicalize: ['base'],
    '@standard-schema/spec': ['schema', 'output'],
    zod: ['domain'],
    kysely: ['adapters'],
    libsql: ['adapters'],
    pg: ['adapters'],
    commander: ['cli'],
    picocolors: ['cli'],
  },
  // Rooms that must run in a browser, and the files in them that are for Node alone.
  browserSafe: ['base', 'schema', 'output', 'domain', 'plan'],
  nodeOnly: /^output\/(off-thread[^/]*|worker-pool)\.ts$/,
  // What the examples may import besides the package itself and Node.
  examples: ['zod'],
}
