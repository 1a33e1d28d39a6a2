// @ts-check
/** The allowed import directions as data, as drawn in ARCHITECTURE.md. Read by the direction check only. */
import { publicFiles } from './entry-points.mjs'

const output = ['output', 'schema', 'base']
const domain = ['domain', ...output]
const plan = ['plan', ...domain]
const engine = ['engine', ...plan]

/**
 * Files that other folders of src may import although they are not entry points of the package.
 * @type {Record<string, readonly string[]>}
 */
const insideOnly = {
  adapters: [
    'telemetry/tracing.ts',
    'net/address-filter.ts',
    'net/guarded-fetch.ts',
    'net/post-webhook.ts',
    'executors/callbacks.ts',
    'executors/fetch.ts',
    'executors/memory.ts',
    'executors/worker-queue.ts',
    'executors/http.ts',
    'executors/local.ts',
    'executors/model.ts',
    'mcp/mcp-client.ts',
    'mcp/mcp-options.ts',
    'sealing/seal-store.ts',
    'providers/provider-table.ts',
    'queues/restate/restate-options.ts',
    'queues/restate/restate-queue.ts',
    'stores/store-operations.ts',
  ],
  // The app imports the first ones without loading the web framework, the command imports the last ones.
  server: [
    'agents/agents.ts',
    'webhooks/webhooks.ts',
    'served.ts',
    'mcp/serve-mcp.ts',
    'http/free-address.ts',
    'telemetry/telemetry.ts',
  ],
  // Only the file beside the folder is visible.
  app: [],
}

/** @type {import('./direction-check.mjs').Rules} */
export const rules = {
  // Each module (a folder of src, or a file directly in it) and the lower modules that it may import.
  modules: {
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
    // Runs in the program of an agent, not in a server: no engine, no adapters.
    agent: domain,
    // Facets and capabilities of one domain, for catalogs that select them.
    presets: ['adapters', ...domain],
    // Client of the HTTP API, with types generated from the routes; for browsers too, so it shares nothing with the server.
    client: [],
    // Reads the environment, whose keys the table of providers lists; only the modules that assemble the app may import it.
    env: ['adapters'],
    // Options of the app: types of its parts, and a table of their validation rules.
    'app-options': ['server', 'adapters', 'env', ...engine],
    app: ['app-options', 'server', 'pipeline', 'health', 'adapters', 'testing', 'env', ...engine],
    cli: ['app', 'presets', 'adapters', 'testing', 'env', 'server', 'pipeline', 'health', ...engine],
    index: ['app', 'pipeline', ...engine],
    types: ['app', 'pipeline', ...engine],
  },
  // Files of a folder that other folders may import: the entry points of package.json and the files of `insideOnly`.
  entryFiles: withInsideOnly(publicFiles()),
  // Each dependency and the module that imports it (one, or docs/decisions/dependencies.md says why two).
  dependencies: {
    ajv: ['schema'],
    'ajv-formats': ['schema'],
    re2js: ['schema'],
    '@noble/hashes': ['base'],
    canonicalize: ['base'],
    '@standard-schema/spec': ['schema', 'output', 'client'],
    minisearch: ['plan'],
    croner: ['engine'],
    kysely: ['adapters'],
    libsql: ['adapters'],
    pg: ['adapters'],
    '@restatedev/restate-sdk': ['adapters'],
    // Types only: a development dependency.
    '@ai-sdk/provider': ['adapters'],
    '@ai-sdk/openai': ['adapters'],
    '@ai-sdk/anthropic': ['adapters'],
    '@ai-sdk/google': ['adapters'],
    '@ai-sdk/openai-compatible': ['adapters'],
    undici: ['adapters'],
    '@modelcontextprotocol/client': ['adapters'],
    'eventsource-parser': ['adapters', 'client'],
    'ipaddr.js': ['adapters'],
    '@opentelemetry/api': ['adapters'],
    react: ['client'],
    vue: ['client'],
    '@modelcontextprotocol/server': ['server'],
    fastify: ['server'],
    'light-my-request': ['server'],
    jose: ['server'],
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
    'fast-string-truncated-width': ['cli'],
    tinyglobby: ['cli'],
    '@dagrejs/dagre': ['cli'],
  },
  // Modules that must run in a browser, and the files in them that are for Node alone.
  browserSafe: ['base', 'schema', 'output', 'domain', 'plan', 'client'],
  nodeOnly: /^(output\/thread\/|domain\/capability\/(call|webhook)-signature\.ts$)/,
  // Packages that the examples may import besides this package and Node.
  examples: ['zod'],
}

/** @param {Record<string, string[]>} files */
function withInsideOnly(files) {
  const folders = new Set([...Object.keys(files), ...Object.keys(insideOnly)])
  return Object.fromEntries(
    [...folders].map((folder) => [folder, [...(files[folder] ?? []), ...(insideOnly[folder] ?? [])]]),
  )
}
