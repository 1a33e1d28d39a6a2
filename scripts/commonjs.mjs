// @ts-check
/**
 * Makes the built package usable with `require` (docs/decisions/commonjs.md): beside every entry point a file that requires
 * the ES module, which Node does from 20.19 on, so that a program has one copy of the package however it loads it; and the
 * types of each as `.d.cts`, because TypeScript knows modules by the ending of their types.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { entryPoints } from './entry-points.mjs'

/** A specifier of another file of the package, in an import, an export or a type. */
const ownSpecifier = /((?:from|import)\s*\(?\s*["']\.{1,2}\/[^"']+)\.js(["'])/g

/** @param {string} folder the folder of the build */
export function addCommonJs(folder) {
  for (const { source } of entryPoints) {
    const path = join(folder, source.replace(/\.ts$/, ''))
    writeFileSync(`${path}.cjs`, `'use strict'\nmodule.exports = require('./${basename(path)}.js')\n`)
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    const types = readFileSync(join(folder, file), 'utf8')
    writeFileSync(
      join(folder, file.replace(/\.d\.ts$/, '.d.cts')),
      types.replace(ownSpecifier, '$1.cjs$2').replace(/^\/\/# sourceMappingURL=.*$/m, ''),
    )
  }
}
