/** Before every test file: properties are tried on the same cases each time. `PROVISO_SEED=N` generates others. */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env['PROVISO_SEED'] ?? 20_261_116) })
