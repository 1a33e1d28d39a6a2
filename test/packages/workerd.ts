/** Runs one module as a Worker in workerd, on loopback, and asks it once. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

const binary: string = createRequire(import.meta.url)('workerd').default

/** The body that the Worker answers; the module beside the configuration exports the handler. */
export async function askWorker(module: string): Promise<string> {
  const config = join(dirname(module), 'config.capnp')
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed ${JSON.stringify(basename(module))})],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);\n`,
  )
  const child = spawn(binary, ['serve', '--control-fd=3', config], {
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk
  })
  try {
    const port = await Promise.race([
      listeningPort(child.stdio[3] as Readable),
      new Promise<never>((_, reject) => {
        child.on('error', reject)
        child.on('exit', (code) => reject(new Error(`workerd ended with code ${code}: ${complaints}`)))
      }),
    ])
    const response = await fetch(`http://127.0.0.1:${port}/`)
    if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${complaints}`)
    return await response.text()
  } finally {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
}

/** workerd writes one line of JSON for each socket that it listens on. */
async function listeningPort(control: Readable): Promise<number> {
  let text = ''
  for await (const chunk of control) {
    text += chunk
    for (const line of text.split('\n').slice(0, -1)) {
      const event = JSON.parse(line)
      if (event.event === 'listen') return event.port
    }
  }
  // The process has ended; its exit code and what it printed say why.
  return new Promise(() => {})
}
