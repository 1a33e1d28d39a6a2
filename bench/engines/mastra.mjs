/** Mastra workflows with their LibSQL store: the snapshot of a run, written after every step. */
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { Mastra } from '@mastra/core/mastra'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { LibSQLStore } from '@mastra/libsql'
import { z } from 'zod'
import { wide, work } from './dag.mjs'

export async function openMastra(folder) {
  const client = createClient({ url: `file:${join(folder, 'mastra.sqlite')}` })
  const storage = new LibSQLStore({ client })
  const any = z.any()
  const step = (id) => createStep({ id, inputSchema: any, outputSchema: any, execute: async () => work(id) })
  const workflow = createWorkflow({ id: 'dag', inputSchema: any, outputSchema: any })
    .then(step('a'))
    .then(step('b'))
    .parallel(wide.map(step))
    .then(step('j'))
    .then(step('k'))
    .then(step('z'))
    .commit()
  const mastra = new Mastra({ storage, workflows: { dag: workflow }, logger: false })
  const dag = mastra.getWorkflow('dag')
  const run = async () => {
    const started = await dag.createRunAsync()
    const { status } = await started.start({ inputData: {} })
    if (status !== 'success') throw new Error(status)
  }
  // The store sets NORMAL by itself when it is first used; after that it keeps the setting.
  await run()
  await client.execute('pragma synchronous = full')
  const asked = async (name) => Object.values((await client.execute(`pragma ${name}`)).rows[0])[0]
  return {
    name: 'Mastra 0.24.9',
    settings: `LibSQLStore 0.16.4, ${await asked('journal_mode')}, synchronous=${await asked('synchronous')} (2 is FULL)`,
    run,
    close: async () => client.close(),
  }
}
