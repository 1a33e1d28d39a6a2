import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: {
      'proviso/output/off-thread': src('output/off-thread.ts'),
      'proviso/output': src('output/index.ts'),
      'proviso/testing': src('testing/index.ts'),
      proviso: src('index.ts'),
    },
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/output/**', 'src/schema/**'],
      exclude: ['**/*.test.ts'],
      thresholds: { 'src/output/**': { lines: 95 }, 'src/schema/**': { lines: 95 } },
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
