/** Compiles `<call>`: expands the body of a template in place of the call. Only the parameters are visible in it. */
import { closest } from '../../../base/closest.ts'
import type { ArgNode, CallNode, TemplateNode } from '../parse/template.ts'
import { type Compiling, deepestCalls, formatName, joined, nothing, say } from './compile-context.ts'
import type { NodeContext } from './draft-builder.ts'
import { createScope, fixed, type Made, type Scope, type Value } from './value.ts'

export function compileCall(
  compiling: Compiling,
  call: CallNode,
  { scope, context }: { readonly scope: Scope; readonly context: NodeContext },
): Made {
  const template = compiling.file.templates.get(call.template)
  if (template === undefined) return unknown(compiling, call)
  if (context.calls.length >= deepestCalls) return tooDeep(compiling, call, context)
  const { wanted: _ofTheResult, ...around } = context
  const params = new Map<string, Value>()
  const exits: string[] = []
  for (const [param, arg] of matched(compiling, template, call)) {
    const made = compiling.compile(arg.value, scope, around)
    params.set(param, made.value)
    exits.push(...made.exits)
  }
  const missing = template.params.filter((param) => !params.has(param))
  if (missing.length > 0) {
    say(compiling, call.range, {
      code: 'template/argument',
      message: `"${template.name}" is called without ${missing.map((param) => `"${param}"`).join(', ')}`,
      hint: `It takes ${signature(template)}`,
    })
    // Further findings in the body about missing parameters would be noise.
    for (const param of missing) params.set(param, fixed(null))
  }
  const body = expand(compiling, template, { params, context })
  return { value: body.value, exits: [...new Set([...exits, ...body.exits])] }
}

/**
 * Compiles the body of a template with its parameters bound; also the entry point for a file that is a single
 * template.
 */
export function expand(
  compiling: Compiling,
  template: TemplateNode,
  { params, context }: { readonly params: ReadonlyMap<string, Value>; readonly context: NodeContext },
): Made {
  const { name, returns, body } = template
  const own = returns === undefined ? undefined : ({ type: 'json', schema: returns } as const)
  const wanted = joined(own, context.wanted)
  if (wanted === 'conflict') {
    say(compiling, template.range, {
      code: 'template/type',
      message: `"${name}" returns ${returns ?? ''}, but ${context.wanted ? formatName(context.wanted) : ''} is wanted of it`,
      hint: 'Make both say the same',
    })
    return nothing
  }
  const { wanted: _outer, also: _notVisible, ...around } = context
  return compiling.compile(body, createScope(params), {
    ...around,
    prefix: `${context.prefix}${name}.`,
    calls: [...context.calls, name],
    ...(wanted && { wanted }),
  })
}

/** Matches arguments to parameters: by name first, then the rest by position. */
function matched(compiling: Compiling, template: TemplateNode, call: CallNode): Map<string, ArgNode> {
  const found = new Map<string, ArgNode>()
  const complain = (arg: ArgNode, message: string) =>
    say(compiling, arg.range, { code: 'template/argument', message, hint: `It takes ${signature(template)}` })
  for (const arg of call.args) {
    if (arg.name === undefined) continue
    if (!template.params.includes(arg.name))
      complain(arg, `"${template.name}" has no parameter "${arg.name}"`)
    else if (found.has(arg.name)) complain(arg, `"${arg.name}" is given twice`)
    else found.set(arg.name, arg)
  }
  const free = template.params.filter((param) => !found.has(param))
  for (const arg of call.args) {
    if (arg.name !== undefined) continue
    const param = free.shift()
    if (param === undefined) {
      complain(arg, `"${template.name}" is called with too many arguments`)
      break
    }
    found.set(param, arg)
  }
  return found
}

function signature({ name, params }: TemplateNode): string {
  return `${name}(${params.join(', ')})`
}

function unknown(compiling: Compiling, { template, range }: CallNode): Made {
  const names = [...compiling.file.templates.keys()]
  const meant = closest(template, names)
  say(compiling, range, {
    code: 'template/unknown-template',
    message: `template "${template.slice(0, 60)}" not found in this file`,
    hint:
      meant !== undefined
        ? `Did you mean "${meant}"?`
        : names.length === 0
          ? 'Put it into the same file: <templates><template name="…">…</template> … </templates>'
          : `Templates here: ${names.join(', ')}`,
  })
  return nothing
}

function tooDeep(compiling: Compiling, { template, range }: CallNode, { calls }: NodeContext): Made {
  const again = calls.includes(template)
  say(compiling, range, {
    code: 'template/depth',
    message: `templates call each other more than ${deepestCalls} deep: ${[...calls, template].join(' → ')}`,
    hint: again
      ? 'A template that calls itself has no end here; pass what it needs and let a task do the repetition'
      : 'Put some of them together',
  })
  return nothing
}
