/** What the real APIs refuse with status 400, one function for each wire. They know nothing of the code under test. */

// biome-ignore lint/suspicious/noExplicitAny: bodies of four makers, whose members are named where they are checked
type Body = Record<string, any>

/** The signature that a scripted maker puts on its thoughts. */
export const signed = (thought: string) => `signed:${Buffer.from(thought).toString('base64')}`

/** Data of an image that is not what its type says. */
function refuseImage(mediaType: unknown, data: unknown): string | undefined {
  if (mediaType !== 'image/png') return undefined
  const bytes = Buffer.from(String(data), 'base64')
  return bytes.subarray(1, 4).toString('latin1') === 'PNG' ? undefined : 'Could not process image'
}

/** An address with data, as OpenAI takes images. */
function refuseDataUrl(url: unknown): string | undefined {
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/s.exec(String(url)) ?? []
  return data === undefined ? 'Invalid image_url' : refuseImage(mediaType, data)
}

const first = (found: readonly (string | undefined)[]) => found.find((each) => each !== undefined)

export function refuseChat({ messages, tools = [], tool_choice: choice }: Body): string | undefined {
  let open: string[] = []
  for (const { role, tool_calls: calls = [], tool_call_id: id, content } of messages) {
    for (const part of Array.isArray(content) ? content : []) {
      const wrong = part.type === 'image_url' ? refuseDataUrl(part.image_url.url) : undefined
      if (wrong !== undefined) return wrong
    }
    if (role === 'tool' && open[0] !== id)
      return `messages with role 'tool' must follow their 'tool_calls': got ${id}, expected ${open[0]}`
    if (role === 'tool') open.shift()
    else if (open.length > 0) return `tool_call_ids did not have response messages: ${open.join(', ')}`
    if (role === 'assistant' && calls.length === 0 && !content) return 'an assistant message is empty'
    for (const { function: called } of calls) {
      const parsed = parse(called.arguments)
      if (typeof parsed !== 'object' || parsed === null) return `arguments are no object: ${called.arguments}`
    }
    if (calls.length > 0) open = calls.map((call: Body) => call['id'])
    if (new Set(open).size < open.length) return 'two tool calls have the same id'
  }
  if (open.length > 0) return `tool_call_ids did not have response messages: ${open.join(', ')}`
  return refuseChoice(choice?.function?.name, tools, (tool) => tool['function'].name)
}

export function refuseResponses({ input, store, tools = [], tool_choice: choice }: Body): string | undefined {
  const calls = new Set<string>()
  const answered: string[] = []
  let reasoning = false
  for (const item of input as readonly Body[]) {
    const parts: readonly Body[] = Array.isArray(item['content']) ? item['content'] : []
    const wrong = first(
      parts.map((part) => (part['type'] === 'input_image' ? refuseDataUrl(part['image_url']) : undefined)),
    )
    if (wrong !== undefined) return wrong
    if (item['type'] === 'item_reference') return `Item with id '${item['id']}' not found: store is ${store}`
    if (item['type'] === 'reasoning') {
      if (!item['encrypted_content'])
        return 'reasoning without encrypted_content cannot be used with store false'
      reasoning = true
    } else if (item['type'] === 'function_call') {
      if (!reasoning)
        return `function_call ${item['call_id']} was provided without its required reasoning item`
      calls.add(item['call_id'])
      if (typeof parse(item['arguments']) !== 'object') return 'arguments are no object'
    } else if (item['type'] === 'function_call_output') {
      if (!calls.has(item['call_id'])) return `No tool call found for ${item['call_id']}`
      answered.push(item['call_id'])
      reasoning = false
    }
  }
  const missing = [...calls].filter((id) => !answered.includes(id))
  if (missing.length > 0) return `No tool output found for function call ${missing.join(', ')}`
  return refuseChoice(choice?.name, tools, (tool) => tool['name'])
}

export function refuseAnthropic(body: Body): string | undefined {
  const { messages, thinking, tool_choice: choice, tools = [] } = body
  const hints = JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0
  if (hints > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${hints}`
  if (thinking?.type === 'enabled') {
    if (body['max_tokens'] <= thinking.budget_tokens)
      return 'max_tokens must be greater than thinking.budget_tokens'
    if (body['temperature'] !== undefined)
      return '`temperature` may only be set to 1 when thinking is enabled'
    if (choice?.type === 'any' || choice?.type === 'tool')
      return 'Thinking may not be enabled when tool_choice forces tool use.'
  }
  for (const [index, { role, content }] of (messages as readonly Body[]).entries()) {
    if (messages[index - 1]?.role === role) return 'roles must alternate'
    if (!Array.isArray(content) || content.length === 0) return `messages.${index}: content is empty`
    for (const block of content) {
      const wrong =
        block.type === 'image' ? refuseImage(block.source.media_type, block.source.data) : undefined
      if (wrong !== undefined) return wrong
      if (block.type === 'text' && block.text === '') return 'text content blocks must be non-empty'
      if (block.type === 'thinking' && block.signature !== signed(block.thinking))
        return 'Invalid `signature` in `thinking` block'
      if (block.type === 'thinking' && block.cache_control) return 'thinking blocks cannot have cache_control'
    }
    const uses = content.filter(({ type }: Body) => type === 'tool_use')
    if (uses.length === 0) continue
    if (thinking && thinking.type !== 'disabled' && content[0].type !== 'thinking')
      return `messages.${index}: Expected \`thinking\`, but found \`${content[0].type}\``
    const next = messages[index + 1]?.content ?? []
    const results = next.slice(0, uses.length).map(({ tool_use_id: id }: Body) => id)
    if (uses.some(({ id }: Body) => !results.includes(id)))
      return `tool_use ids were found without tool_result blocks immediately after: ${uses.map(({ id }: Body) => id)}`
  }
  return refuseChoice(choice?.name, tools, (tool) => tool['name'])
}

export function refuseGoogle({
  contents,
  tools,
  generationConfig = {},
  toolConfig,
}: Body): string | undefined {
  if (tools && generationConfig.responseMimeType === 'application/json')
    return "Function calling with a response mime type: 'application/json' is unsupported"
  for (const [index, { parts }] of (contents as readonly Body[]).entries()) {
    if (parts.length === 0) return `contents[${index}].parts must not be empty`
    const wrong = first(
      parts.map(({ inlineData: { mimeType, data } = {} }: Body) => refuseImage(mimeType, data)),
    )
    if (wrong !== undefined) return wrong
    const calls = parts.filter((part: Body) => part['functionCall'])
    if (calls.length === 0) continue
    if (!calls[0].thoughtSignature) return 'Function call is missing a thought_signature'
    if (!/^signed:/.test(calls[0].thoughtSignature)) return 'Thought signature is not valid'
    const answers = (contents[index + 1]?.parts ?? []).filter((part: Body) => part['functionResponse'])
    if (answers.length !== calls.length)
      return 'the number of function response parts must equal the number of function call parts'
    if (
      answers.some((part: Body, at: number) => part['functionResponse'].name !== calls[at].functionCall.name)
    )
      return 'function responses are in another order'
  }
  const allowed = toolConfig?.functionCallingConfig?.allowedFunctionNames?.[0]
  return refuseChoice(allowed, tools?.[0]?.functionDeclarations ?? [], (tool) => tool['name'])
}

function refuseChoice(
  name: string | undefined,
  tools: readonly Body[],
  nameOf: (tool: Body) => string,
): string | undefined {
  return name === undefined || tools.some((tool) => nameOf(tool) === name)
    ? undefined
    : `Tool choice '${name}' not found in 'tools'`
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
