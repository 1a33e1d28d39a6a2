// @ts-check
/**
 * Words that the project does not use, each with what to write instead, and the places where one is right. Read by `words-check.mjs`.
 *
 * A pattern is a sequence of words with alternatives: `hand/hands in`. It matches in prose and inside names (`handIn`, `hand-in`);
 * a word that begins with `-` follows without a space (`stand -in` matches `stand-in` and `standIn` alone).
 */

/** @type {readonly import('./words-check.mjs').WordRule[]} */
const banned = [
  { words: ['nobody'], write: 'name the caller, or use the passive: "no process", "is not claimed"' },
  { words: ['somebody'], write: 'name the caller: "another process", "a person", "the user"' },
  { words: ['whoever'], write: 'name the caller: "the caller", "a client that …"' },
  { words: ['those who/that'], write: 'name them: "callers that", "the runs that"' },
  {
    words: ['whatever'],
    // Concessive clauses are ordinary English; as a subject it hides what is meant.
    except: [
      'whatever the/its/their/his/this/that/it/they/a/an/we/you/model/operation/order/language/level/way/steps/plans',
    ],
    write: 'any other …, everything that …',
  },
  {
    words: ['tell/tells/told/telling/teller/tellers'],
    except: ['tell/tells/told/telling apart', 'tell/tells/told/telling it/them/both/two apart'],
    write: 'report, log, return, notify',
  },
  { words: ['mend/mends/mended/mending/mender/menders'], write: 'fix' },
  { words: ['stranger/strangers'], write: 'untrusted (schema, caller)' },
  {
    words: [
      'hand/hands/handed/handing in/over/back/out',
      'hand/hands/handed/handing it/them/this/that in/over/back/out',
    ],
    except: ['by/on/at/second/left/right/one/other hand in', 'hand/hands in hand'],
    write: 'submit, pass, return',
  },
  {
    words: ['stand/stands/stood/standing'],
    except: ['stand/stands/stood/standing for/alone/out/still', 'stand -in/ins', 'stand/stands/stood in for'],
    write: 'status, state, is (where it stands: "is at"; stands in: "replaces")',
  },
  {
    words: ['is/are/was/were/be none'],
    except: ['there is/are/was/were none', 'there may/can/must/will/would/to be none'],
    write: 'is not a …, does not exist',
  },
  {
    words: ['what becomes/become/became/becoming of', 'becomes/become/became of'],
    write: 'what follows, the result of',
  },
  { words: ['look/looks/looked/looking at'], write: 'check, see, read, inspect' },
  { words: ['go/goes/going/gone/went on'], write: 'continue, proceed, resume' },
  { words: ['let/lets/letting go', 'let/lets/letting it/them/the/a/this go'], write: 'release' },
  { words: ['hopeless/hopelessly'], write: 'non-retryable' },
  { words: ['house/houses'], write: 'package, project' },
  { words: ['room/rooms'], except: ['room for/left/again', 'little/enough room'], write: 'module, folder' },
  { words: ['door/doors/doorway'], write: 'entry point' },
  {
    words: ['he/him/his/himself/she/her/hers/herself'],
    whole: true,
    write: 'name the person by role ("the reviewer"), or "they"',
  },
]

/** Names that do not say what they do. @type {readonly import('./words-check.mjs').WordRule[]} */
const riddles = [
  { words: ['poke/pokes/poked/poking'], write: 'schedule' },
  { names: ['heard/hear/hears'], write: 'notify, onEvent' },
  { names: ['may'], whole: true, write: 'isAllowed, canX' },
  { words: ['afterwards'], write: 'then, later; as a name: wakeRun' },
  { words: ['elsewhere'], write: 'in another process, in another file' },
]

/** Old identifiers and private nouns. @type {readonly import('./words-check.mjs').WordRule[]} */
const renames = [
  { words: ['lookout/lookouts'], write: 'run poller' },
  { names: ['settling'], write: 'run waiters' },
  { words: ['happenings/happening'], write: 'pending events' },
  { names: ['moment/moments'], write: 'decision context' },
  { words: ['whereabouts'], write: 'attempt location' },
  { names: ['take/takes back alarm'], write: 'cancelTimer' },
  { names: ['put together'], write: 'buildApp' },
  { names: ['refuse twins', 'twin/twins'], write: 'assertUniqueRoutes; duplicate' },
  { names: ['tell others'], write: 'notify' },
  { names: ['give'], whole: true, write: 'release' },
  { words: ['crowded'], write: 'atCapacity' },
  { names: ['charged in doubt'], write: 'worstCaseUsage' },
  { names: ['want/wants'], write: 'requirement' },
  { names: ['offer/offers'], write: 'candidate' },
  { names: ['supporter/supporters'], write: 'cheapest producer' },
  { names: ['market/markets'], write: 'search space' },
  { names: ['lesson/lessons'], write: 'learned constraint' },
  { names: ['sketch/sketches/sketched'], write: 'draft iteration' },
  { names: ['climb/climbs/climbed/climbing'], write: 'generation' },
  { words: ['rung/rungs'], write: 'fallback step' },
  { names: ['try'], whole: true, write: 'attempt outcome' },
  { names: ['carry/carries/carried/carrying', 'adopt/adopts/adopted'], write: 'claim' },
  { names: ['place/places'], write: 'Location; of a permit: Permit' },
  { names: ['span/spans'], write: 'Range; Span is a trace span only' },
  { names: ['piece/pieces'], write: 'chunk' },
  { names: ['own mistake'], write: 'isProgrammingError' },
  { names: ['unread'], write: 'unparsed input' },
]

/** @type {import('./words-check.mjs').WordRules} */
export const wordRules = {
  // Folders with words that are still to be replaced; nothing may be added.
  limits: {},
  groups: { banned, riddles, renames },
  folders: ['src', 'docs', 'examples', 'scripts', 'bench', 'test', 'packages'],
  files: ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'package.json'],
  // Test data such as model texts, pipelines and answers is not checked.
  skip: /(^|\/)(node_modules|dist|cases|recorded|snapshots?|__snapshots__)\/|^src\/client\/api\.ts$|^docs\/playground\/playground\.js$|package-lock\.json$/,
  allowed: [
    { in: 'scripts/words-rules.mjs', reason: 'lists the words' },
    { in: 'scripts/words-check.mjs', reason: 'names words in examples' },
    { in: 'scripts/words.test.ts', reason: 'tests the words' },
    { in: 'src/cli/live/', word: 'room', reason: 'lines and columns of the terminal that are free' },
    { in: 'src/base/errors/issue.ts', word: 'span', reason: 'the key `at.span` of issues and repairs' },
    { in: 'src/pipeline/text/source.ts', word: 'span', reason: 'the specified key `at.span` of an issue' },
    { in: 'src/domain/ports/', word: 'span', reason: 'a trace span' },
    { in: 'src/domain/ports/', word: 'spans', reason: 'trace spans' },
    { in: 'src/adapters/telemetry/', word: 'span', reason: 'a trace span' },
    { in: 'src/adapters/telemetry/', word: 'spans', reason: 'trace spans' },
    { in: 'src/adapters/stores/', word: 'span', reason: 'a trace span, as in the table `spans`' },
    { in: 'src/adapters/stores/', word: 'spans', reason: 'trace spans, as in the table `spans`' },
    { in: 'src/testing/stores/', word: 'span', reason: 'a trace span, as in the table `spans`' },
    { in: 'src/testing/noise/families/layers.ts', word: 'tell', reason: 'a text of a model' },
    { in: 'src/testing/noise/families/layers.ts', word: 'go on', reason: 'a text of a model' },
    { in: 'test/', word: 'span', reason: 'a trace span' },
    { in: 'test/', word: 'spans', reason: 'trace spans' },
    { in: 'scripts/postgres.mjs', word: 'nobody', reason: 'the user of the operating system' },
    { in: 'test/', text: 'house/tea', reason: 'the name of a model' },
    { in: 'src/server/', text: 'house/tea', reason: 'the name of a model' },
    { in: 'src/testing/noise/words.ts', reason: 'sample texts' },
    { in: 'bench/lib/documents.mjs', text: 'She said', reason: 'a sample text' },
    { in: 'bench/slips/', word: 'he', reason: 'a text of a model' },
    { in: 'docs/slips.md', word: 'he', reason: 'a text of a model' },
    { in: 'docs/playground/src/examples.ts', word: 'she', reason: 'a text of a model' },
    { in: 'src/output/decode/strings/strings.test.ts', word: 'he', reason: 'texts of models' },
    { in: 'src/output/decode/strings/strings.ts', text: 'he said', reason: 'a text of a model' },
    { in: 'test/reader/seed-list.test.ts', word: 'he', reason: 'a text of a model' },
    { in: 'test/reader/seed-list.test.ts', word: 'go on', reason: 'a text of a model' },
  ],
}
