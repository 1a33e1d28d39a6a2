// @ts-check
/** Builds before `npm pack` and `npm publish` of either package, so that the entry points exist and are current. */
import { ensureBuilt, ensureInstalled } from './setup.mjs'

ensureInstalled()
if (process.argv[2] === 'reader') ensureBuilt('reader')
else {
  ensureBuilt('build')
  ensureBuilt('ui')
}
