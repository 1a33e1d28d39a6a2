import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { entryPoints } from './scripts/entry-points.mjs'

/**
 * Files whose tests share the modules of their worker: loading them anew for each file takes half of the time. They change
 * nothing that outlives a test. The others measure time, memory or growth, or have the whole process as their subject.
 */
const shared = [
  'src/**/*.test.ts',
  'test/{agents,client,engine,journeys,lint,mcp,models,pipelines,requirements,schedules,semantics,server,threads,tools}/**/*.test.ts',
]
/** Files that compare times or costs: they run one after another, and no other test runs beside them. */
const measured = [
  'test/hostile/texts.test.ts',
  'test/iterations/cost.test.ts',
  'test/processes/poison.test.ts',
  'test/health/growth.test.ts',
  'test/schema/first-use.test.ts',
]
const apart = ['src/adapters/stores/**/*.test.ts', 'src/testing/noise/*.test.ts']

export default defineConfig({
  resolve: {
    alias: entryPoints.map(({ specifier, source }) => ({
      // Whole: one specifier may begin with another.
      find: new RegExp(`^${specifier}$`),
      replacement: fileURLToPath(new URL(`./src/${source}`, import.meta.url)),
    })),
  },
  test: {
    setupFiles: ['test/setup.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'measured', include: measured, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        // These first: the long ones are among them.
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts', 'scripts/**/*.test.ts', ...apart],
          exclude: [...measured, ...shared.filter((pattern) => !pattern.startsWith('src'))],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: shared,
          exclude: apart,
          isolate: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
    // Threads end with the process: a test that hangs does not outlive `npm test`.
    pool: 'threads',
    // Several tests measure growth or start processes: more workers than half of a small machine disturb them.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['src/output/**', 'src/schema/**', 'src/plan/**'],
      exclude: [
        '**/*.test.ts',
        // Runs from dist in its own thread, which coverage does not reach; `test/reader/off-thread.test.ts` tests it.
        'src/output/thread/off-thread-worker.ts',
        // Types only.
        'src/output/{types,infer}.ts',
        'src/output/coerce/coerce-context.ts',
        'src/output/thread/off-thread-messages.ts',
        'src/schema/json-schema.ts',
        'src/plan/prove/proof-request.ts',
        // Entry points only re-export.
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
