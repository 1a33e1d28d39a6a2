/** Starts the page, or the worker of the page: one file is both. */
import type { Request } from './messages.ts'
import { startPage } from './page.ts'
import { createReading } from './read.ts'

/** The function that the build wraps around this file; its source is the worker's where a file cannot be loaded. */
declare const playground: () => void

if (typeof document === 'undefined') startWorker()
else {
  const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''
  startPage(() => new Worker(location.protocol === 'file:' ? sourceUrl() : script))
}

function startWorker(): void {
  const answer = createReading()
  addEventListener('message', ({ data }: MessageEvent<Request>) => {
    postMessage(answer(data))
  })
}

/** Browsers load no worker from a file, but from text that the page has. */
function sourceUrl(): string {
  return URL.createObjectURL(new Blob([`(${playground})()`], { type: 'text/javascript' }))
}
