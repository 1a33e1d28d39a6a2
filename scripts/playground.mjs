// @ts-check
/**
 * `npm run playground`: builds the script of the playground, `docs/playground/playground.js`, from the light reader, and
 * prints the address of the page. The page is static: open the file, or serve the folder.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { bundleLight } from './reader.mjs'
import { root } from './setup.mjs'

const folder = join(root, 'docs', 'playground')

const scratch = mkdtempSync(join(tmpdir(), 'proviso-playground-'))
try {
  const file = await bundleLight({ playground: join(folder, 'src', 'main.ts') }, scratch)
  // Wraps page and worker in one function, so that the page can start the worker from its own source.
  const code = `(function playground() {\n${readFileSync(file, 'utf8')}\n})()\n`
  writeFileSync(join(folder, 'playground.js'), code)
  console.log(`docs/playground/playground.js: ${gzipSync(code).length} bytes, gzipped`)
  console.log(`Open ${pathToFileURL(join(folder, 'index.html'))}`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
