/** Reads the version from the nearest `package.json` above this file, so that it works in every build layout. */
import { existsSync, readFileSync } from 'node:fs'

export function version(): string {
  let folder = new URL('.', import.meta.url)
  for (;;) {
    const file = new URL('package.json', folder)
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version
    const above = new URL('..', folder)
    if (above.href === folder.href) throw new Error('The package.json of proviso is missing')
    folder = above
  }
}
