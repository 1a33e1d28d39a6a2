/**
 * Loads the SDK of Restate on first use: it is an optional package, which only workers of this queue need. The SDK calls
 * `Promise.withResolvers`, which Node has from version 22 on. On Node 20 its files are evaluated with a `Promise` of their own
 * that has the method, so that the global one, which the program may inspect, stays as it is.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'
import { missingPackage } from '../../../base/errors/missing-package.ts'

export type RestateSdk = typeof import('@restatedev/restate-sdk')

const sdkName = '@restatedev/restate-sdk'

/** Throws `option/invalid` with the install command. */
export async function loadSdk(): Promise<RestateSdk> {
  try {
    return 'withResolvers' in Promise ? await import('@restatedev/restate-sdk') : loadWithOwnPromise(sdkName)
  } catch (cause) {
    throw missingPackage({ name: sdkName, version: '1', purpose: 'take runs from Restate' }, cause)
  }
}

/** The global `Promise` with `withResolvers`; its instances are the ordinary ones. */
const ownPromise: PromiseConstructor = new Proxy(Promise, {
  get: (target, key) => (key === 'withResolvers' ? withResolvers : Reflect.get(target, key)),
})

function withResolvers() {
  let settle: { resolve: (value: unknown) => void; reject: (cause: unknown) => void } | undefined
  const promise = new Promise((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}

/** Evaluates the CommonJS files of a package; other packages are required as usual. */
function loadWithOwnPromise(name: string): RestateSdk {
  const modules = new Map<string, { exports: unknown }>()
  const load = (file: string): unknown => {
    const known = modules.get(file)
    if (known) return known.exports
    const module = { exports: {} as unknown }
    modules.set(file, module)
    const here = createRequire(file)
    const require = (id: string) => (id.startsWith('.') ? load(here.resolve(id)) : here(id))
    const parameters = ['exports', 'require', 'module', '__filename', '__dirname', 'Promise']
    const evaluate = compileFunction(readFileSync(file, 'utf8'), parameters, { filename: file })
    evaluate(module.exports, require, module, file, dirname(file), ownPromise)
    return module.exports
  }
  return load(createRequire(import.meta.url).resolve(name)) as RestateSdk
}
