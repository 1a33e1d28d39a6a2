// @ts-check
/** The page docs/slips.md: made of the slips and of the answers of each library. Pure, so that a test can hold our column to it. */

/**
 * @typedef {import('./cases.mjs').Slip} Slip
 * @typedef {{ ok: true, value: unknown } | { ok: false, reason: string }} Answer
 * @typedef {'right' | 'wrong' | 'refused'} Verdict
 * @typedef {{ name: string, answers: readonly Answer[] }} Library
 */

const marks = { right: '✓', wrong: '✗ wrong', refused: '– refused' }

/**
 * Right is the expected value, or a refusal where there is none; any other value is silently wrong.
 * @param {Slip} slip
 * @param {Answer} answer
 * @returns {Verdict}
 */
export function verdict({ expected }, answer) {
  if (!answer.ok) return expected === undefined ? 'right' : 'refused'
  return expected !== undefined && canonical(answer.value) === canonical(expected) ? 'right' : 'wrong'
}

/**
 * @param {Slip} slip
 * @param {number} index
 */
export function slipHead({ title, text, schema, expected, why }, index) {
  const wanted = expected === undefined ? 'no value' : code(JSON.stringify(expected))
  return [
    `## ${index + 1}. ${title}`,
    `\`\`\`\`text\n${text}\n\`\`\`\``,
    `Schema: ${code(JSON.stringify(schema))}`,
    `Expected: ${wanted}. ${why}`,
  ].join('\n\n')
}

/**
 * @param {Slip} slip
 * @param {string} name
 * @param {Answer} answer
 */
export function answerRow(slip, name, answer) {
  const said = answer.ok
    ? code(short(JSON.stringify(answer.value)))
    : short(answer.reason).replaceAll('|', '\\|')
  return `| ${name} | ${marks[verdict(slip, answer)]} | ${said} |`
}

/**
 * @param {readonly Slip[]} slips
 * @param {readonly Library[]} libraries
 */
export function slipsPage(slips, libraries) {
  const sections = slips.map((slip, i) => {
    const rows = libraries.map(({ name, answers }) =>
      answerRow(slip, name, /** @type {Answer} */ (answers[i])),
    )
    return [
      slipHead(slip, i),
      ['| library | verdict | value, or why there is none |', '|---|---|---|', ...rows].join('\n'),
    ].join('\n\n')
  })
  return `${[intro, summary(slips, libraries), ownMisses(slips, libraries), ...sections].join('\n\n')}\n`
}

/**
 * One row per library, the best first.
 * @param {readonly Slip[]} slips
 * @param {readonly Library[]} libraries
 */
function summary(slips, libraries) {
  const rows = libraries
    .map(({ name, answers }) => {
      const verdicts = slips.map((slip, i) => verdict(slip, /** @type {Answer} */ (answers[i])))
      const count = (/** @type {Verdict} */ wanted) => verdicts.filter((one) => one === wanted).length
      return { name, right: count('right'), wrong: count('wrong'), refused: count('refused') }
    })
    .sort((a, b) => b.right - a.right || a.wrong - b.wrong)
    .map(({ name, right, wrong, refused }) => `| ${name} | ${right} | ${wrong} | ${refused} |`)
  return [`| of ${slips.length} | right | wrong | refused |`, '|---|---:|---:|---:|', ...rows].join('\n')
}

/**
 * Where our own column is not right, and who is.
 * @param {readonly Slip[]} slips
 * @param {readonly Library[]} libraries
 */
function ownMisses(slips, [own, ...others]) {
  const misses = slips.flatMap((slip, i) => {
    const isRight = (/** @type {Library | undefined} */ library) =>
      library !== undefined && verdict(slip, /** @type {Answer} */ (library.answers[i])) === 'right'
    if (isRight(own)) return []
    const right = others.filter(isRight).map(({ name }) => name)
    return [`- ${i + 1}. ${slip.title}. Right: ${right.length === 0 ? 'none' : right.join(', ')}.`]
  })
  return misses.length === 0
    ? 'Proviso gives what is expected in all of them.'
    : ['Where Proviso does not give what is expected:', '', ...misses].join('\n')
}

const intro = `# Twenty slips, and what each library makes of them

\`npm run bench -- slips --write\` makes this page: it installs the other libraries into \`bench/\`, gives each of them the same twenty texts, and prints what comes back. The texts are written for this page, in the manner of real models. Twenty texts show kinds of slips, not rates; rates over thousands of texts are in [the benchmarks](benchmarks.md#success).

How each library is used:

- **Proviso**: \`parse(text, schema)\`, no options.
- **BAML**: the schema translated into its types, \`parseLlmResponse\`; the value is then checked with Ajv. Optional fields that it fills with null count as absent.
- **AI SDK**: \`generateText\` with \`Output.object\`, the schema validated with Ajv and \`extractJsonMiddleware\` and \`extractReasoningMiddleware\` taking off fences and reasoning, on a model that answers with the text. **With jsonrepair** the same, and jsonrepair applied to the text before it is parsed.
- **jsonrepair**, **json5**, **partial-json**, **best-effort-json-parser**, **\`parsePartialJson\` of the AI SDK**, **\`JSON.parse\`**: the text as it came, and the text after the extraction that a careful caller writes (the fenced block, else from the first bracket to the last); each followed by Ajv without coercion. The better of the two answers is shown. None of them is built to find a value in prose or to follow a schema.

\`✓\` is the expected value, or no value where none is expected. \`✗ wrong\` is a value that satisfies the schema and is not the expected one: nothing warns the caller. \`– refused\` is an error or a value that the validator turns away: the caller knows, and can ask again. What is expected is our judgement; the reason is given beside it.`

/** @param {string} text */
function short(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`
}

/** As inline code, also with back-ticks and in a table. @param {string} text */
function code(text) {
  const fence = text.includes('`') ? '``' : '`'
  return `${fence}${text.replaceAll('|', '\\|')}${fence}`
}

/** @param {unknown} value @returns {string} */
function canonical(value) {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
