/** Which methods a path knows, for whoever has used another one. */
import type { Route } from './route.ts'

export function createMethodsOf(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return (path) => patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}

/** Paths of routes are letters, dots and slashes, with `:name` for what varies. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`)
}
