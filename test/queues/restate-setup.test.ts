/** The set-up of docs/reference/queues.md works as it is written: its lines are typed into a shell, with the packed package. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { installPacked } from '../packages/install.ts'
import { root } from '../support.ts'

const run = promisify(execFile)
const long = process.env['PROVISO_LONG'] === '1'
const missing = missingPostgres() ?? missingRestate()
/** A network of its own needs the rights of an administrator. */
const hasNetwork = spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0
if (long && !hasNetwork) console.warn('The set-up of Restate is not typed: it needs `unshare -n`.')

const page = readFileSync(join(root, 'docs/reference/queues.md'), 'utf8')
const section = page.slice(page.indexOf('## Set up Restate'), page.indexOf('## Several workers'))
const blocks = (language: string) =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  )

it.skipIf(!long || missing !== undefined || !hasNetwork)(
  'the set-up of the page serves a run over Restate',
  async () => {
    const [install = '', ...lines] = (blocks('sh')[0] ?? '').split('\n')
    const packages = install.split(' ').slice(3)
    expect(install).toBe(`npm install proviso ${packages.join(' ')}`)
    const project = await installPacked(['proviso'])
    try {
      // The packages of the line beside ours, without the report that the page names.
      const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
      await run('npm', ['install', ...flags, ...packages], { cwd: project.folder })
      writeFileSync(join(project.folder, 'agents.mjs'), blocks('js')[0] ?? '')
      const program = join(root, 'test/queues/type-setup.mjs')
      const typed = [project.folder, lines.join('\n'), blocks('sh')[1] ?? '']
      const { stdout } = await run('unshare', ['-n', process.execPath, program, ...typed])
      const { printed, status } = JSON.parse(stdout)
      expect(printed).toMatch(/event: complete\ndata: .*"status":"completed".*Tea warms the afternoon/)
      const worker = { role: 'worker', owner: expect.stringMatching(/^restate\//), isAlive: true }
      expect(status.processes).toContainEqual(expect.objectContaining(worker))
    } finally {
      project.remove()
    }
  },
  300_000,
)
