/** Reads envelope templates: the files `flex-*.json` of one folder, within limits. A broken file is reported and does not affect others. */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json } from '../../base/json.ts'

const templateLimits = { files: 100, bytes: 256 * 1024 } as const

interface Template {
  readonly [key: string]: Json
  readonly name: string
}

/** Reads all templates; a missing folder has none. */
export async function readTemplates(dir: string): Promise<readonly Template[]> {
  const names = await readdir(dir).catch(() => [])
  const files = names.filter((name) => /^flex-[\w.-]+\.json$/.test(name)).sort()
  return Promise.all(files.slice(0, templateLimits.files).map((name) => readTemplate(dir, name)))
}

async function readTemplate(dir: string, file: string): Promise<Template> {
  const name = file.replace(/\.json$/, '')
  try {
    const text = await readBounded(join(dir, file))
    if (text === undefined) return { name, issue: `The file is longer than ${templateLimits.bytes} bytes` }
    const envelope: unknown = JSON.parse(text)
    return isObject(envelope)
      ? { name, envelope: envelope as Json }
      : { name, issue: 'The file must hold a JSON object' }
  } catch {
    return { name, issue: 'Cannot read the file as JSON' }
  }
}

async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return size > templateLimits.bytes ? undefined : await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
