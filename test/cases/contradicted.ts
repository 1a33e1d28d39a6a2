/**
 * Cases of other projects whose expectation our policies contradict, each with the policy that explains it.
 * They are run and counted apart; one that passes anyway is reported, so that this table stays honest.
 */

/** The policies, in a sentence each; the fuller reasons are in the decision records. */
export const POLICIES = {
  'missing-value-dropped': 'a key without a value is dropped and recorded, never filled with null or ""',
  'never-invented':
    'nothing is invented: no zero for a lone sign, no item or member that the text does not hold',
  'no-defaults': '`default` of the schema is filled only when the caller asks for it',
  'several-first': 'several values where one is wanted: the best fit, else the first',
  'prose-around': 'words before or after a value are prose, not an error',
  'bare-text':
    'without a schema, or with one that wants a string, bare text is a string and Python constants are read',
  'big-integers':
    'digits of big integers are never lost: kept as a string where that is allowed, else an issue',
  'contents-untouched': 'the contents of a string are never trimmed nor changed',
  'cut-string-kept':
    'with acceptTruncated a cut string is kept, however short; an unfinished escape is withheld',
  'unknown-escape-kept': 'an escape that JSON does not know keeps its backslash',
  'control-characters-kept': 'raw control characters inside a string are kept',
  'closed-in-order': 'what was opened is closed in the right order, also when it is empty',
  'comment-to-line-end': 'a // or # comment runs to the end of its line',
  'bare-value-to-next-key': 'a value without quotes runs to the next key or closer, commas included',
  'last-quote-closes': 'of several unescaped quotes the last one before the closer ends the string',
  'words-to-boolean': 'yes/no, on/off and 0/1 become booleans only when the caller allows it',
  'union-kept': 'a value that is valid under some branch of a union is kept as it is',
  'text-read-as-value':
    'text of an object or list is read where the schema wants one, also when it is not strict JSON',
  'bad-item-issue': 'a bad or surplus item of a list is an issue; dropping it is opt-in',
  'draft-2020': 'schemas are 2020-12 unless they say draft-07, so `items` is never a list of schemas',
} as const

export type Policy = keyof typeof POLICIES

const REPAIR = 'json_repair/'
const STRING = 'json_repair/test_parse_string.'
const OBJECT = 'json_repair/test_parse_object.test_parse_object_'
const FENCED = 'test_parse_string_keeps_literal_fenced_snippet_cases'
const GUIDED = 'json_repair_schema/test_schema_guided_parse.'
const MODEL = `${GUIDED}test_schema_pydantic_model_keeps_literal_fenced_snippet_cases`
const SCALAR = 'json_repair_schema/test_schema_repairer.test_fill_missing_and_coerce_scalar_paths'
const PATHS = 'json_repair_schema/test_schema_repairer.test_repair_object_and_array_paths'
const JS = 'jsonrepair/'
const THROW = 'jsonrepair/should-throw-an-exception-in-case-of-non-repairable-issues'

function numbered(prefix: string, ...parts: (number | readonly [number, number])[]): string[] {
  return parts.flatMap((part) => {
    const [from, to] = typeof part === 'number' ? [part, part] : part
    return Array.from({ length: to - from + 1 }, (_, i) => `${prefix}/${from + i}`)
  })
}

const ROWS: readonly (readonly [Policy, readonly string[]])[] = [
  [
    'missing-value-dropped',
    [
      `${REPAIR}test_json_repair.test_repair_json_skip_json_loads/30`,
      `${REPAIR}test_parse_array.test_parse_array_edge_cases/60`,
      `${OBJECT}edge_cases/140`,
      `${OBJECT}edge_cases/142`,
      `${OBJECT}merge_at_the_end/153`,
      ...numbered(`${JS}should-repair-truncated-json`, [8, 10], 23),
      ...numbered(`${JS}should-repair-a-missing-object-value`, [1, 3]),
      ...numbered(THROW, 2, 5),
      `${GUIDED}test_schema_guides_missing_value_type_defaults/0`,
    ],
  ],
  [
    'never-invented',
    [
      `${JS}should-repair-invalid-numbers/3`,
      `${JS}should-turn-invalid-unrepairable-numbers-into-strings/17`,
      ...numbered(`${JS}should-repair-truncated-numbers`, 4, 7),
    ],
  ],
  ['no-defaults', [`${GUIDED}test_schema_optional_default_is_inserted/2`, `${PATHS}/62`]],
  ['several-first', [...numbered(`${REPAIR}test_json_repair.test_multiple_jsons`, 16, 18, 19), `${THROW}/4`]],
  ['prose-around', [`${THROW}/6`, `${THROW}/7`, `${JS}should-strip-jsonp-notation/14`]],
  [
    'bare-text',
    [
      `${STRING}test_parse_string/163`,
      `${STRING}test_escaping/193`,
      ...numbered(`${STRING}test_parse_boolean_or_null`, [242, 244]),
      `${SCALAR}/97`,
    ],
  ],
  ['big-integers', [`${REPAIR}test_json_repair.test_valid_json/7`]],
  [
    'contents-untouched',
    [
      `${REPAIR}test_json_repair.test_stream_stable/33`,
      `${STRING}test_escaping/196`,
      ...numbered(`${STRING}${FENCED}`, [216, 220], [222, 234]),
      `${STRING}test_parse_string_stray_quote_line_before_trailing_comma_drops_stray_quote/235`,
      `${STRING}test_parse_string_stray_quote_line_before_trailing_comma_at_eof_drops_stray_quote/236`,
      ...numbered(MODEL, [19, 23], [25, 37]),
    ],
  ],
  [
    'cut-string-kept',
    [
      `${REPAIR}test_json_repair.test_stream_stable/32`,
      `${REPAIR}test_parse_array.test_parse_array_edge_cases/39`,
    ],
  ],
  ['unknown-escape-kept', [`${JS}should-add-remove-escape-characters/6`, ...numbered(THROW, [8, 10])]],
  ['control-characters-kept', numbered(THROW, 11, 12)],
  ['closed-in-order', [`${REPAIR}test_parse_array.test_parse_array_edge_cases/38`]],
  ['comment-to-line-end', [`${REPAIR}test_parse_comment.test_parse_comment/77`]],
  ['bare-value-to-next-key', [`${OBJECT}edge_cases/125`]],
  ['last-quote-closes', [`${OBJECT}edge_cases/114`]],
  [
    'words-to-boolean',
    [
      `${GUIDED}test_schema_boolean_coercion_is_mode_independent/38`,
      ...numbered(`${GUIDED}test_schema_boolean_coercion_accepts_number_tokens`, [39, 42]),
      ...numbered(SCALAR, [84, 89], [92, 95]),
    ],
  ],
  [
    'union-kept',
    numbered('json_repair_schema/test_schema_repairer.test_repair_value_missing_and_unions', 53, 57),
  ],
  [
    'text-read-as-value',
    [
      `${GUIDED}test_schema_salvage_repairs_malformed_double_serialized_object_string/10`,
      `${GUIDED}test_schema_salvage_repairs_malformed_double_serialized_array_string/12`,
    ],
  ],
  ['bad-item-issue', numbered(PATHS, 67)],
  ['draft-2020', numbered(PATHS, [68, 70])],
]

/** Case id → the policy that explains why our answer differs. */
export const CONTRADICTED: ReadonlyMap<string, Policy> = new Map(
  ROWS.flatMap(([policy, ids]) => ids.map((id) => [id, policy] as const)),
)
