/** Finds the package of this file: its version, and files that are delivered with it. Works in every build layout. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function version(): string {
  return JSON.parse(readFileSync(new URL('package.json', findPackage()), 'utf8')).version
}

/** Returns the folder of the built console; `undefined` if it was not built. */
export function findConsole(): string | undefined {
  const folder = new URL('dist/ui/', findPackage())
  return existsSync(new URL('index.html', folder)) ? fileURLToPath(folder) : undefined
}

/** Returns the nearest folder above this file with a `package.json`. */
function findPackage(): URL {
  let folder = new URL('.', import.meta.url)
  for (;;) {
    if (existsSync(new URL('package.json', folder))) return folder
    const above = new URL('..', folder)
    if (above.href === folder.href) throw new Error('The package.json of proviso is missing')
    folder = above
  }
}
