/** The page: reads what is typed, shows what the worker answers, keeps the stream and the link in step. */
import { type Example, examples } from './examples.ts'
import { limits } from './limits.ts'
import type { Answer, Note } from './messages.ts'
import { find, showBusy, showReading, showStatus } from './show.ts'
import { decodeState, defaultOptions, encodeState, type Options, type State } from './state.ts'
import { createWorkerClient } from './worker-client.ts'

const flags = ['acceptTruncated', 'salvage', 'defaults', 'untrusted'] as const

export function startPage(startWorker: () => Worker): void {
  const client = createWorkerClient(startWorker)
  const [text, schema] = [find('text', HTMLTextAreaElement), find('schema', HTMLTextAreaElement)]
  const [aop, prefer] = [find('aop', HTMLSelectElement), find('prefer', HTMLSelectElement)]
  const example = find('example', HTMLSelectElement)
  const stream = createStreamView(client.send, readState)
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Counts changes, so that the answer to what was typed before is not shown. */
  let changes = 0

  function readState(): State {
    const chosen = Object.fromEntries(flags.map((name) => [name, find(name, HTMLInputElement).checked]))
    const options = { ...defaultOptions, ...chosen, aop: aop.value, prefer: prefer.value } as Options
    return { text: text.value, schema: schema.value, options }
  }

  function writeState(state: State): void {
    text.value = state.text
    schema.value = state.schema
    aop.value = state.options.aop
    prefer.value = state.options.prefer
    for (const name of flags) find(name, HTMLInputElement).checked = state.options[name]
    readNow()
  }

  function readNow(): void {
    clearTimeout(timer)
    showBusy()
    stream.reset(text.textLength)
    const asked = ++changes
    client.send({ kind: 'read', state: readState() }, (answer) => {
      if (asked === changes) showAnswer(answer)
    })
  }

  function showAnswer(answer: Answer): void {
    if (answer.kind === 'read') showReading(answer.reading, choose)
    else if (answer.kind !== 'stream') showStatus(answer.message, 'bad')
  }

  /** Selects the place of a note in the text, or goes to the schema. */
  function choose({ range, where }: Note): void {
    const field = where === 'schema' ? schema : text
    field.focus()
    if (where === 'text') text.setSelectionRange(range[0], range[1])
  }

  function readFragment(): boolean {
    const state = decodeState(location.hash)
    if (state === undefined) return false
    if ('error' in state) {
      showStatus(state.error, 'bad')
      find('share-status', HTMLElement).textContent = state.error
    } else writeState(state)
    return !('error' in state)
  }

  for (const { name } of examples) example.append(new Option(name))
  example.addEventListener('change', () => writeState(examples[example.selectedIndex] as Example))
  for (const field of [text, schema]) {
    field.addEventListener('input', () => {
      clearTimeout(timer)
      changes++
      showBusy()
      timer = setTimeout(readNow, limits.debounceMs)
    })
  }
  for (const field of [aop, prefer, ...flags.map((name) => find(name, HTMLInputElement))]) {
    field.addEventListener('change', readNow)
  }
  find('share', HTMLButtonElement).addEventListener('click', () => makeLink(readState()))
  addEventListener('hashchange', readFragment)
  if (!readFragment()) {
    const broken = find('share-status', HTMLElement).textContent !== ''
    // A broken link leaves the page empty, so that its message stays.
    if (!broken) writeState(examples[0] as Example)
  }
}

function makeLink(state: State): void {
  const made = encodeState(state)
  const status = find('share-status', HTMLElement)
  if ('error' in made) {
    status.textContent = made.error
    return
  }
  history.replaceState(null, '', made.fragment)
  const link = find('link', HTMLInputElement)
  link.value = location.href
  link.focus()
  link.select()
  status.textContent = 'The link is selected and in the address bar. It holds the text and the schema.'
}

/** Plays the text as a stream: by the button in steps, by the slider at any place. */
function createStreamView(send: ReturnType<typeof createWorkerClient>['send'], readState: () => State) {
  const [play, arrived] = [find('play', HTMLButtonElement), find('arrived', HTMLInputElement)]
  const [partial, finished] = [find('partial', HTMLElement), find('finished', HTMLElement)]
  let playing = false

  function setPlaying(on: boolean): void {
    playing = on
    play.textContent = on ? 'Stop stream' : 'Play stream'
  }

  function showCount(): void {
    find('arrived-count', HTMLElement).textContent = `${arrived.value} of ${arrived.max}`
  }

  function ask(): void {
    showCount()
    send({ kind: 'stream', state: readState(), arrived: Number(arrived.value) }, (answer) => {
      if (answer.kind !== 'stream') {
        setPlaying(false)
        if (answer.kind !== 'read') showStatus(answer.message, 'bad')
        return
      }
      partial.textContent = answer.partial.value === '' ? 'Nothing yet' : answer.partial.value
      const done =
        answer.partial.finished.length === 0 ? '' : `Finished: ${answer.partial.finished.join(', ')}. `
      finished.textContent = `${done}${answer.partial.replaced ? 'Another value took over.' : ''}`
      if (playing) setTimeout(step, 30)
    })
  }

  function step(): void {
    if (!playing) return
    const [at, end] = [Number(arrived.value), Number(arrived.max)]
    if (at >= end) {
      setPlaying(false)
      return
    }
    arrived.value = String(Math.min(end, at + Math.max(1, Math.ceil(end / limits.steps))))
    ask()
  }

  play.addEventListener('click', () => {
    setPlaying(!playing)
    if (!playing) return
    if (arrived.value === arrived.max) arrived.value = '0'
    step()
  })
  arrived.addEventListener('input', () => {
    setPlaying(false)
    ask()
  })

  return {
    reset(length: number): void {
      setPlaying(false)
      arrived.max = String(length)
      arrived.value = '0'
      partial.textContent = ''
      finished.textContent = ''
      showCount()
    },
  }
}
