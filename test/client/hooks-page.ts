/** The page of the test of the hooks: one component of React and one of Vue that show a run, and what a test may do with them. */
import { createClient } from 'proviso/client'
import { useRun as useReactRun } from 'proviso/react'
import { useRun as useVueRun } from 'proviso/vue'
import { createElement, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createApp, defineComponent, h } from 'vue'

interface Shown {
  readonly status: string
  readonly events: readonly { readonly id: number }[]
  readonly nodes: readonly { readonly id: string; readonly status: string }[]
  readonly asks: readonly { readonly question?: string; approve(): Promise<unknown> }[]
  readonly output?: unknown
  readonly error?: object | undefined
}

interface Given {
  readonly url: string
  readonly token: string
  readonly retry: object
  readonly runId: string
}

const shown: Shown[] = []
/** Streams that are open now. */
let open = 0

function connect({ url, token, retry }: Given) {
  const counted: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!String(input).endsWith('/events')) return response
    open++
    init?.signal?.addEventListener('abort', () => open--, { once: true })
    return response
  }
  return createClient({ url, token, retry, fetch: counted })
}

/** What both components render: the status, and a button for every ask. */
function describe(view: Shown) {
  shown.push(view)
  return { text: `${view.status} ${JSON.stringify(view.output ?? null)}`, asks: view.asks }
}

const mounts: Record<string, (given: Given, root: Element) => () => void> = {
  react(given, root) {
    const client = connect(given)
    function Run() {
      const { text, asks } = describe(useReactRun(client, given.runId))
      const buttons = asks.map((ask, index) =>
        createElement(
          'button',
          { key: index, type: 'button', onClick: () => void ask.approve() },
          ask.question,
        ),
      )
      return createElement('p', null, text, ...buttons)
    }
    const mounted = createRoot(root)
    // Strict mode mounts, unmounts and mounts again.
    mounted.render(createElement(StrictMode, null, createElement(Run)))
    return () => mounted.unmount()
  },
  vue(given, root) {
    const client = connect(given)
    const app = createApp(
      defineComponent({
        setup() {
          const run = useVueRun(client, given.runId)
          return () => {
            const { text, asks } = describe(run.value)
            return h('p', null, [
              text,
              ...asks.map((ask) => h('button', { onClick: () => void ask.approve() }, ask.question)),
            ])
          }
        },
      }),
    )
    app.mount(root)
    return () => app.unmount()
  },
}

let unmount = () => {}
Object.assign(globalThis, {
  mount(kind: string, given: Given) {
    shown.length = 0
    const { document } = globalThis as unknown as { document: { querySelector(name: string): Element } }
    unmount = mounts[kind]?.(given, document.querySelector('main')) ?? unmount
  },
  unmount: () => unmount(),
  openStreams: () => open,
  lastShown: () => JSON.parse(JSON.stringify(shown.at(-1))),
  renders: () => shown.length,
  ready: true,
})
