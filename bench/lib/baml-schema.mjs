/** Translates the JSON Schemas of the noise corpus into BAML, so that its parser gets the types it is built for. */

/** One BAML function per schema; `undefined` for a schema that BAML cannot say. */
export function toBaml(schema, index) {
  const classes = []
  const names = new Map()
  const root = schema
  try {
    const type = say(schema)
    const body = `function F${index}(text: string) -> ${type} {\n  client "openai/gpt-4o"\n  prompt #"{{ ctx.output_format }}"#\n}`
    return [...classes, body].join('\n')
  } catch {
    return undefined
  }

  function say(node) {
    if (node.$ref) {
      const target = node.$ref
        .slice(2)
        .split('/')
        .reduce((at, key) => at[key], root)
      return say(target)
    }
    const union = node.anyOf ?? node.oneOf
    if (union) return `(${union.map(say).join(' | ')})`
    if (Array.isArray(node.type)) return `(${node.type.map((type) => say({ ...node, type })).join(' | ')})`
    if ('const' in node) return JSON.stringify(node.const)
    if (node.enum) return `(${node.enum.map((value) => JSON.stringify(value)).join(' | ')})`
    if (node.type === 'array') return `(${say(node.items)})[]`
    if (node.type === 'object')
      return node.properties ? classOf(node) : `map<string, ${say(node.additionalProperties)}>`
    const simple = { string: 'string', integer: 'int', number: 'float', boolean: 'bool', null: 'null' }[
      node.type
    ]
    if (simple === undefined) throw new Error('no such type in BAML')
    return simple
  }

  function classOf(node) {
    const known = names.get(node)
    if (known) return known
    const name = `C${index}x${names.size}`
    names.set(node, name)
    const fields = Object.entries(node.properties).map(
      ([key, sub]) => `  ${key} ${say(sub)}${node.required?.includes(key) ? '' : '?'}`,
    )
    classes.push(`class ${name} {\n${fields.join('\n')}\n}`)
    return name
  }
}
