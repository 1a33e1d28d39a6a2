/** Bundles the built client for browsers, as a user's bundler does. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'tsdown'
import { root } from '../support.ts'

export async function bundleClient(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-client-bundle-'))
  try {
    await build({
      config: false,
      cwd: root,
      entry: { client: join(root, 'dist/client/index.js') },
      outDir: folder,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      dts: false,
      logLevel: 'error',
      outExtensions: () => ({ js: '.js' }),
      deps: { alwaysBundle: [/./] },
    })
    return readFileSync(join(folder, 'client.js'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
