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
    // Facets and capabilities of one field, for catalogs that ask for them.
    presets: ['adapters', ...domain],
    // Types of the HTTP API, made of the routes; for callers in TypeScript, the console among them.
    client: [],
    // The one reader of the environment; only those who put things together may ask it.
    env: [],
    // What may be given to the whole: types of what it is put together from, and a table of what they are held to.
    'app-options': ['server', 'adapters', 'env', ...engine],
    app: ['app-options', 'server', 'pipeline', 'health', 'adapters', 'testing', 'env', ...engine],
    cli: ['app', 'presets', 'adapters', 'env', 'server', 'pipeline', 'health', ...engine],
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
      'models/index.ts',
      'providers/anthropic.ts',
      'providers/compatible.ts',
      'providers/google.ts',
      'providers/openai.ts',
      'telemetry/tracing.ts',
      'guard.ts',
      'dispatchers/callbacks.ts',
      'dispatchers/http.ts',
      'dispatchers/local.ts',
      'dispatchers/model.ts',
      'dispatchers/scripted.ts',
      'dispatchers/define-capability.ts',
    ],
    pipeline: ['index.ts'],
    // What an app is put together from must not bring the web framework along.
    server: ['index.ts', 'agents.ts'],
    testing: ['index.ts'],
    presets: ['marketing/index.ts'],
    // Seen is only the file beside the folder.
    app: [],
  },
  // Each dependency and the room that imports it (one, or docs/decisions/dependencies.md says why two).
  dependencies: {
    ajv: ['schema'],
    'ajv-formats': ['schema'],
    re2js: ['schema'],
    '@noble/hashes': ['base'],
    canonicalize: ['base'],
    '@standard-schema/spec': ['schema', 'output'],
    minisearch: ['plan'],
    kysely: ['adapters'],
    libsql: ['adapters'],
    pg: ['adapters'],
    '@ai-sdk/provider': ['adapters'],
    '@ai-sdk/openai': ['adapters'],
    '@ai-sdk/anthropic': ['adapters'],
    '@ai-sdk/google': ['adapters'],
    '@ai-sdk/openai-compatible': ['adapters'],
    zod: ['adapters'],
    undici: ['adapters'],
    'eventsource-parser': ['adapters'],
    'ipaddr.js': ['adapters'],
    '@opentelemetry/api': ['adapters'],
    fastify: ['server'],
    'light-my-request': ['server'],
    pino: ['server'],
    'prom-client': ['server'],
    'rate-limiter-flexible': ['server'],
    rfc6902: ['server'],
    yaml: ['pipeline'],
    saxes: ['pipeline'],
    'smol-toml': ['pipeline'],
    diff: ['pipeline'],
    commander: ['cli'],
    picocolors: ['cli'],
  },
  // Rooms that must run in a browser, and the files in them that are for Node alone.
  browserSafe: ['base', 'schema', 'output', 'domain', 'plan'],
  nodeOnly: /^output\/(off-thread[^/]*|worker-pool)\.ts$/,
  // What the examples may import besides the package itself and Node.
  examples: ['zod'],
}
