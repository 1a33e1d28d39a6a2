/** The allowed results for a text that was cut off: its complete parts, with the brackets closed in the right order. */
import type { Json } from '../../../base/json.ts'
import { isScalar, type Token } from '../tokens.ts'

/**
 * Returns the values that may be read from tokens whose end is missing: with the containers that had just been opened,
 * and without them. A key without its value is dropped in both.
 */
export function closedValues(tokens: readonly Token[]): Json[] {
  const values: Json[] = []
  for (const keepEmpty of [true, false]) {
    const value = close(tokens, keepEmpty)
    if (value !== undefined) values.push(value)
  }
  return values
}

interface Frame {
  readonly list: boolean
  readonly items: Json[]
  readonly members: [string, Json][]
  key?: string
}

function close(tokens: readonly Token[], keepEmpty: boolean): Json | undefined {
  const stack: Frame[] = []
  let root: Json | undefined
  const put = (value: Json): void => {
    const top = stack.at(-1)
    if (top === undefined) root = value
    else if (top.list) top.items.push(value)
    else {
      top.members.push([top.key ?? '', value])
      delete top.key
    }
  }
  const finish = (frame: Frame): Json => (frame.list ? frame.items : Object.fromEntries(frame.members))
  for (const token of tokens) {
    if (token.kind === 'open') stack.push({ list: token.text === '[', items: [], members: [] })
    else if (token.kind === 'key') stack.at(-1)!.key = String(token.value)
    else if (isScalar(token)) put(token.value as Json)
    else if (token.kind === 'close') put(finish(stack.pop()!))
  }
  while (stack.length > 0) {
    const frame = stack.pop()!
    if (!keepEmpty && frame.items.length === 0 && frame.members.length === 0) {
      delete stack.at(-1)?.key
      continue
    }
    put(finish(frame))
  }
  return root
}
