/** Record calls of a model once, replay them for ever: the tape is readable and redacted, and a miss is an error. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateValue } from 'proviso/models'
import { cassette, rehearsal } from 'proviso/testing'

const file = join(mkdtempSync(join(tmpdir(), 'proviso-')), 'tea.cassette.json')
const schema = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
const ask = (provider: ReturnType<typeof cassette>, objective: string) =>
  generateValue({
    providers: [provider],
    model: 'openai/gpt-5-mini',
    objective,
    schema,
    secrets: ['sesame-42'],
  })

// A real provider goes where the rehearsal model is; in tests, useCassette does the saving and the failing.
const recording = cassette({ file, mode: 'record', provider: rehearsal() })
await ask(recording, 'One line about tea; the password is sesame-42')
recording.save()

const playing = cassette({ file })
console.log((await ask(playing, 'One line about tea; the password is sesame-42')).output?.value)
console.log((await ask(playing, 'One line about coffee')).outcome, playing.misses.length)
console.log(JSON.parse(readFileSync(file, 'utf8')).entries[0].request.prompt[0])

// Prints:
// { line: 'One line about tea password is' }
// provider_error 1
// Objective: "One line about tea; the password is [redacted]"
