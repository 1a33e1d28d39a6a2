import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'output/index': 'src/output/index.ts',
    'output/off-thread': 'src/output/off-thread.ts',
    'output/off-thread-worker': 'src/output/off-thread-worker.ts',
    'adapters/models/index': 'src/adapters/models/index.ts',
    'adapters/providers/anthropic': 'src/adapters/providers/anthropic.ts',
    'adapters/providers/compatible': 'src/adapters/providers/compatible.ts',
    'adapters/providers/google': 'src/adapters/providers/google.ts',
    'adapters/providers/openai': 'src/adapters/providers/openai.ts',
    'plan/index': 'src/plan/index.ts',
    'adapters/stores/open-store': 'src/adapters/stores/open-store.ts',
    'adapters/stores/memory': 'src/adapters/stores/memory.ts',
    'adapters/stores/sqlite': 'src/adapters/stores/sqlite.ts',
    'adapters/stores/postgres': 'src/adapters/stores/postgres.ts',
    'testing/index': 'src/testing/index.ts',
    'cli/main': 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'node20',
  dts: true,
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  deps: { neverBundle: [/^node:/] },
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
})
