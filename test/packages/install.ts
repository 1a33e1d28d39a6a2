/** Packs the packages as they would be published and installs them with npm into an empty project. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireBuild, requireBuilt, root } from '../support.ts'

const run = promisify(execFile)

export interface Project {
  readonly folder: string
  /** Runs a program of the project in Node and returns the JSON that it prints. */
  run(file: string, text: string, flags?: readonly string[]): Promise<unknown>
  /** Adds packages of the registry, in the versions of this repository. */
  install(packages: readonly string[]): Promise<void>
  remove(): void
}

/** Folders of the packages in the repository. */
const folders = { proviso: '.', '@proviso/reader': 'packages/reader' }

/** Installs our packages, and others in the versions of this repository. */
export async function installPacked(
  names: readonly (keyof typeof folders)[],
  others: readonly string[] = [],
): Promise<Project> {
  if (names.includes('proviso')) requireBuild()
  if (names.includes('@proviso/reader')) requireBuilt('reader')
  const folder = mkdtempSync(join(tmpdir(), 'proviso-packed-'))
  mkdirSync(join(folder, 'packed'))
  for (const name of names) {
    const options = { cwd: join(root, folders[name]) }
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', join(folder, 'packed')], options)
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const packed = readdirSync(join(folder, 'packed')).map((file) => join(folder, 'packed', file))
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const install = async (packages: readonly string[]) => {
    const flags = ['--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['install', ...flags, ...packages], { cwd: folder })
  }
  const withVersion = (name: string) => `${name}@${devDependencies[name]}`
  await install([...packed, ...others.map(withVersion)])
  return {
    folder,
    install: (packages) => install(packages.map(withVersion)),
    async run(file, text, flags = []) {
      writeFileSync(join(folder, file), text)
      const { stdout, stderr } = await run(process.execPath, [...flags, file], {
        cwd: folder,
        maxBuffer: 2 ** 26,
      })
      if (stderr !== '') throw new Error(stderr)
      return JSON.parse(stdout)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
