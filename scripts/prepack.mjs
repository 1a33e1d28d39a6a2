// @ts-check
/** Before `npm pack` and `npm publish`: a package without a build, or with yesterday's, would have no doors. */
import { ensureBuilt, ensureInstalled } from './setup.mjs'

ensureInstalled()
ensureBuilt()
