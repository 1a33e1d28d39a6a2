import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: {
      'proviso/output/off-thread': src('output/off-thread.ts'),
      'proviso/output': src('output/index.ts'),
      'proviso/models': src('adapters/models/index.ts'),
      'proviso/providers/anthropic': src('adapters/providers/anthropic.ts'),
      'proviso/providers/compatible': src('adapters/providers/compatible.ts'),
      'proviso/providers/google': src('adapters/providers/google.ts'),
      'proviso/providers/openai': src('adapters/providers/openai.ts'),
      'proviso/presets/marketing': src('presets/marketing/index.ts'),
      'proviso/server': src('server/index.ts'),
      'proviso/stores/memory': src('adapters/stores/memory.ts'),
      'proviso/stores/sqlite': src('adapters/stores/sqlite.ts'),
      'proviso/plan': src('plan/index.ts'),
      'proviso/stores/postgres': src('adapters/stores/postgres.ts'),
      'proviso/stores': src('adapters/stores/open-store.ts'),
      'proviso/testing': src('testing/index.ts'),
      proviso: src('index.ts'),
    },
  },
  test: {
    setupFiles: ['test/fixed-seed.ts'],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    // Threads end with the process: a test that never comes back does not outlive `npm test`.
    pool: 'threads',
    // Several tests measure growth or start processes: more workers than half of a small machine disturb them.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/output/**', 'src/schema/**', 'src/plan/**'],
      exclude: [
        '**/*.test.ts',
        // Runs from dist in a thread of its own, where coverage cannot look; `test/off-thread.test.ts` holds it.
        'src/output/off-thread-worker.ts',
        // Types only.
        'src/output/{types,coercing,off-thread-messages}.ts',
        'src/schema/json-schema.ts',
        'src/plan/request.ts',
        // Doors only name what others define.
        '**/index.ts',
      ],
      thresholds: {
        'src/output/**': { lines: 95 },
        'src/schema/**': { lines: 95 },
        'src/plan/**': { lines: 95 },
      },
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
