import { defineConfig } from 'tsdown'
import { addCommonJs } from './scripts/commonjs.mjs'
import { buildEntries } from './scripts/entry-points.mjs'

export default defineConfig({
  entry: buildEntries(),
  format: 'esm',
  platform: 'neutral',
  target: 'node20',
  dts: true,
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  // Optional peers are never part of the package.
  deps: { neverBundle: [/^node:/, 'react', 'vue'] },
  hooks: { 'build:done': ({ options }) => addCommonJs(options.outDir) },
  // The timings of plugins are printed as warnings otherwise.
  inputOptions: { resolve: { mainFields: ['module', 'main'] }, checks: { pluginTimings: false } },
})
