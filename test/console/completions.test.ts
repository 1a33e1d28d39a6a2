/** Completion of envelopes: everything that is offered is accepted by the parser of envelopes. */
import { CompletionContext } from '@codemirror/autocomplete'
import { json } from '@codemirror/lang-json'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { parseEnvelope } from '../../src/plan/index.ts'
import { completeEnvelope } from '../../ui/src/parts/envelope-completions.ts'

/** What is offered at `|`, with the text after each choice. */
function complete(text: string, names: readonly string[] = []) {
  const pos = text.indexOf('|')
  const doc = text.replace('|', '')
  const state = EditorState.create({ doc, extensions: [json()] })
  const found = completeEnvelope(() => names)(new CompletionContext(state, pos, false))
  return (found?.options ?? []).map(({ label, apply }) => ({
    label: label.slice(1, -1),
    text: doc.slice(0, found?.from) + String(apply) + doc.slice(pos),
  }))
}
const labels = (text: string, names?: readonly string[]) => complete(text, names).map(({ label }) => label)

const contract = '"outputContract": { "schema": { "type": "object" } }'
const start = `"objective": "Tea", ${contract}`

describe('completion of an envelope', () => {
  it.each([
    ['the envelope', `{ ${start}, "| }`],
    ['the contract', '{ "objective": "Tea", "outputContract": { "schema": {}, "| } }'],
    [
      'a constraint',
      `{ "objective": "Tea", "outputContract": { "schema": {}, "constraints": [{ "expr": true, "| }] } }`,
    ],
    ['limits', `{ ${start}, "constraints": { "| } }`],
    ['policies', `{ ${start}, "policies": { "| } }`],
    ['policies of the planner', `{ ${start}, "policies": { "planner": { "| } } }`],
    ['directives', `{ ${start}, "policies": { "planner": { "directives": { "| } } } }`],
    [
      'a selector',
      `{ ${start}, "policies": { "runtime": [{ "id": "a", "action": { "type": "fail" }, "trigger": { "kind": "onNodeComplete", "selector": { "| } } }] } }`,
    ],
    [
      'a trigger',
      `{ ${start}, "policies": { "runtime": [{ "id": "a", "action": { "type": "fail" }, "trigger": { "kind": "onNodeComplete", "| } }] } }`,
    ],
    [
      'an action',
      `{ ${start}, "policies": { "runtime": [{ "id": "a", "trigger": { "kind": "manual" }, "action": { "type": "hitl", "| } }] } }`,
    ],
    [
      'a runtime policy',
      `{ ${start}, "policies": { "runtime": [{ "id": "a", "trigger": { "kind": "manual" }, "action": { "type": "fail" }, "| }] } }`,
    ],
    [
      'a confidence policy',
      `{ ${start}, "policies": { "runtime": [{ "id": "a", "rao": { "autoApproveAbove": 0.9 }, "| }] } }`,
    ],
    ['settings of models', `{ ${start}, "modelSettings": { "| } }`],
  ])('offers for %s what the parser accepts', (_name, text) => {
    const choices = complete(text)
    expect(choices.length).toBeGreaterThan(0)
    const refused = choices.flatMap(({ label, text: whole }) => {
      // Texts that must not be empty are the author's to fill.
      const parsed = parseEnvelope(JSON.parse(whole.replaceAll('""', '"filled"')))
      return parsed.ok ? [] : [`${label}: ${parsed.issues[0]?.message}`]
    })
    expect(refused).toEqual([])
  })

  it('offers what an object has not yet, and nothing of another form', () => {
    expect(labels('{ "objective": "Tea", "| }')).not.toContain('objective')
    expect(labels('{ "policies": { "runtime": [{ "id": "a", "rao": {}, "| }] } }')).toEqual([
      'enabled',
      'selector',
    ])
    expect(labels('{ "policies": { "runtime": [{ "trigger": { "kind": "onTimeout", "| } }] } }')).toEqual([
      'ms',
    ])
    expect(labels('{ "policies": { "| } }')).not.toContain('requiresHitlApproval')
  })

  it('offers fixed values, types of schemas, and names of capabilities where they belong', () => {
    const names = ['copy.writer']
    expect(labels('{ "policies": { "runtime": [{ "action": { "type": "|" } }] } }', names)).toContain('emit')
    expect(labels('{ "outputContract": { "constraints": [{ "level": "|" }] } }')).toEqual([
      'hard',
      'soft',
      'informational',
    ])
    expect(labels('{ "outputContract": { "schema": { "type": "|" } } }', names)).toContain('integer')
    expect(labels('{ "policies": { "planner": { "selection": { "forbid": ["|"] } } } }', names)).toEqual(
      names,
    )
    expect(labels('{ "objective": "|" }', names)).toEqual([])
    expect(labels('{ "outputContract": { "schema": { "properties": { "|" } } } }', names)).toEqual([])
  })
})
