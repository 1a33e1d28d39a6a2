/** Puts answers on the page. Text from outside becomes text nodes only, never markup. */
import type { Note, Reading, Segment } from './messages.ts'

export function find<E extends HTMLElement>(id: string, kind: new () => E): E {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}`)
  return element
}

/** What is shown is no longer of what is typed: screen readers wait for the new words. */
export function showBusy(): void {
  find('status', HTMLElement).ariaBusy = 'true'
}

export function showStatus(message: string, look: 'good' | 'bad'): void {
  const status = find('status', HTMLElement)
  status.className = look
  status.ariaBusy = 'false'
  // The same words again would be read aloud again.
  if (status.textContent !== message) status.textContent = message
}

export function showReading(reading: Reading, choose: (note: Note) => void): void {
  find('value', HTMLElement).textContent =
    reading.ok || reading.value === ''
      ? reading.value
      : `Not valid, the best that was found:\n${reading.value}`
  find('marked', HTMLElement).replaceChildren(...reading.segments.map(toNode))
  showNotes('issues', reading.issues, choose)
  showNotes('repairs', reading.repairs, choose)
  find('issue-count', HTMLElement).textContent = countOf(reading.issues.length, reading.issueCount)
  find('repair-count', HTMLElement).textContent = countOf(reading.repairs.length, reading.repairCount)
  showStatus(reading.headline, reading.ok ? 'good' : 'bad')
}

function countOf(shown: number, all: number): string {
  return shown === all ? `(${all})` : `(the first ${shown} of ${all})`
}

function toNode({ text, kind, title = '' }: Segment): Node {
  if (kind === undefined) return document.createTextNode(text)
  const element = document.createElement(kind === 'inserted' ? 'ins' : kind === 'skipped' ? 'span' : 'mark')
  if (kind !== 'inserted') element.className = kind
  element.textContent = text
  element.title = title
  return element
}

function showNotes(id: string, notes: readonly Note[], choose: (note: Note) => void): void {
  const items = notes.map((note) => {
    const item = document.createElement('li')
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = note.location
    button.setAttribute('aria-label', `Select ${note.location}: ${note.title}`)
    button.addEventListener('click', () => choose(note))
    const title = document.createElement('strong')
    title.textContent = note.title
    item.append(button, ' ', title, ` ${note.detail}`)
    return item
  })
  if (items.length === 0) {
    const none = document.createElement('li')
    none.className = 'hint'
    none.textContent = 'None'
    items.push(none)
  }
  find(id, HTMLOListElement).replaceChildren(...items)
}
