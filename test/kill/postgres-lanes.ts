/** Creates lanes on one PostgreSQL server: a database each, so that parallel trials do not claim each other's runs. */
import { Client } from 'pg'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import type { Lane } from './campaign.ts'

export async function openLanes(
  url: string,
  count: number,
): Promise<{ readonly lanes: readonly Required<Lane>[]; readonly close: () => Promise<void> }> {
  const client = new Client(url)
  await client.connect()
  const names = Array.from({ length: count }, (_, index) => `kill_${index + 1}`)
  for (const name of names) await client.query(`create database ${name} encoding 'UTF8' template template0`)
  await client.end()
  const stores: Store[] = []
  const lanes: Required<Lane>[] = []
  for (const name of names) {
    const address = new URL(url)
    address.pathname = `/${name}`
    const store = await openPostgresStore({ url: address.href, readers: 1, writers: 1 })
    stores.push(store)
    lanes.push({ postgres: { url: address.href, store } })
  }
  return {
    lanes,
    async close() {
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}
