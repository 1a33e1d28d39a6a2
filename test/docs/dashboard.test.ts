/** The Grafana dashboard asks for metrics that a server has. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { api, serve, start, tea } from '../server/support.ts'

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const file = new URL('../../docs/grafana-dashboard.json', import.meta.url)

it('names metrics of `GET /metrics` alone', async () => {
  const { call } = await serve(tea)
  await (await call(`${api}/runs?wait=10`, { body: start() })).json()
  const known = new Set(
    [...(await (await call('/metrics')).text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(
      ([, name, type]) => (type === 'histogram' ? [`${name}_bucket`] : [name]),
    ),
  )
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard
  expect(panels.length).toBeGreaterThan(10)
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      const names = [...expr.matchAll(/\b([a-z]\w+)\{/g)].map(([, name]) => name)
      expect(names, title).not.toEqual([])
      for (const name of names) expect(known, title).toContain(name)
    }
})
