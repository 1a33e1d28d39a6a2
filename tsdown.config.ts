import { defineConfig } from 'tsdown'
import { buildEntries } from './scripts/entry-points.mjs'

export default defineConfig({
  entry: buildEntries(),
  format: 'esm',
  platform: 'neutral',
  target: 'node20',
  dts: true,
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  deps: { neverBundle: [/^node:/] },
  inputOptions: { resolve: { mainFields: ['module', 'main'] } },
})
