// @ts-check
/**
 * Transpiles the simulation and the sources it simulates for Node: strips types and bundles nothing. Mutants are copies
 * with one replacement in one source.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { transformSync } from 'rolldown/utils'
import { root } from './setup.mjs'

/** @typedef {Pick<import('../test/sim/mutants.ts').Mutant, 'name' | 'file' | 'find' | 'replace'> & { seed?: number }} Mutant */

const cache = join(root, 'node_modules', '.cache', 'proviso-sim')

/** Returns the folder with the transpiled `src` and the test folders that run without a test runner; rebuilt when a source changes. */
export function transpileSim() {
  const folders = [
    'src',
    ...['sim', 'interpreter', 'conformance', 'reader', 'seams'].map((name) => join('test', name)),
  ]
  const files = [
    ...folders.flatMap((folder) => sources(join(root, folder))),
    join(root, 'test', 'quick-clock.ts'),
  ]
  const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const hash = createHash('sha256')
  for (const { file, text } of texts) hash.update(`${relative(root, file)}\n${text}\n`)
  return made(hash.digest('hex').slice(0, 16), (folder) => {
    for (const { file, text } of texts) transpile(folder, relative(root, file), text)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  })
}

/**
 * Transpiles the same sources with one defect.
 * @param {Mutant} mutant
 */
export function transpileMutant({ name, file, find, replace }) {
  const base = transpileSim()
  const parts = readFileSync(join(root, file), 'utf8').split(find)
  if (parts.length !== 2)
    throw new Error(`Mutant "${name}": its place occurs ${parts.length - 1} times in ${file}`)
  const hash = createHash('sha256').update(`${file}\n${find}\n${replace}`).digest('hex').slice(0, 8)
  // Private to this process: it is deleted after use, and two lists may contain the same defect.
  return made(`${basename(base)}-${hash}-${process.pid}`, (folder) => {
    linkTree(base, folder)
    // Removes the hard link only; other copies share the file.
    rmSync(targetOf(folder, file))
    transpile(folder, file, parts.join(replace))
  })
}

/**
 * Creates a folder of the cache, in a temporary folder that is then renamed, so that no process reads a partial one.
 * @param {string} name @param {(folder: string) => void} fill
 */
function made(name, fill) {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  const draft = `${folder}.${process.pid}.${++drafts}`
  mkdirSync(draft, { recursive: true })
  fill(draft)
  try {
    renameSync(draft, folder)
  } catch {
    // Another process has just created the same one.
    forget(draft)
  }
  return folder
}

let drafts = 0

/** @param {string} folder @param {string} file @param {string} text */
function transpile(folder, file, text) {
  const { code, errors } = transformSync(file, text, {
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  if (errors.length > 0) throw new Error(`Cannot transpile ${file}: ${errors[0]?.message}`)
  const target = targetOf(folder, file)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, code)
}

/** @param {string} folder @param {string} file */
function targetOf(folder, file) {
  return join(folder, file).replace(/\.ts$/, '.js')
}

/** Copies a tree with hard links. @param {string} from @param {string} to */
function linkTree(from, to) {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else linkSync(source, target)
  }
}

/** Deletes the folder of a mutant. @param {string} folder */
export function forget(folder) {
  rmSync(folder, { recursive: true, force: true })
}

/** @param {string} folder @returns {string[]} */
function sources(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
