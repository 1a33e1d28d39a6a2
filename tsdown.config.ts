import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'output/index': 'src/output/index.ts',
    'output/off-thread': 'src/output/off-thread.ts',
    'output/off-thread-worker': 'src/output/off-thread-worker.ts',
    'stores/memory': 'src/adapters/stores/memory.ts',
    'stores/sqlite': 'src/adapters/stores/sqlite.ts',
    'stores/postgres': 'src/adapters/stores/postgres.ts',
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
