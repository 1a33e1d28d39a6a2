/**
 * Cases in the style of the Berkeley Function Calling Leaderboard, several turns each: what a scripted model does, and which
 * calls must be made. They measure the loop, not a model: a model that behaves so must get what it needs.
 */
import type { Call } from '../chat-server.ts'

export interface BfclCase {
  readonly category: 'multi-step' | 'parallel' | 'missing parameters' | 'irrelevance' | 'correction'
  readonly name: string
  /** The turns of the model: calls, or the words of its answer. A function gets the results so far, as the model reads them. */
  readonly turns: readonly (
    | readonly Call[]
    | string
    | ((results: readonly string[]) => readonly Call[] | string)
  )[]
  /** The calls that are made, in any order within a turn. */
  readonly made: readonly string[]
  readonly answer: string
}

const c = (name: string, input: unknown): Call => ({ name, input })
/** A member of the last result. */
const last = (results: readonly string[], key: string): string =>
  String(JSON.parse(results.at(-1) ?? '{}')[key])

export const cases: readonly BfclCase[] = [
  // Multi-step: what one call brings is the argument of the next.
  {
    category: 'multi-step',
    name: 'looks up a city, then its weather',
    turns: [
      [c('find_city', { name: 'Bern' })],
      (r) => [c('weather', { cityId: last(r, 'cityId') })],
      (r) => `It is ${last(r, 'sky')}`,
    ],
    made: ['find_city Bern', 'weather id-Bern'],
    answer: 'It is sunny',
  },
  {
    category: 'multi-step',
    name: 'adds three numbers one after another',
    turns: [
      [c('add', { a: 1, b: 2 })],
      (r) => [c('add', { a: Number(last(r, 'sum')), b: 3 })],
      (r) => last(r, 'sum'),
    ],
    made: ['add 1 2', 'add 3 3'],
    answer: '6',
  },
  {
    category: 'multi-step',
    name: 'makes a folder, writes a file, reads it',
    turns: [
      [c('mkdir', { path: 'a' })],
      [c('write', { path: 'a/x', text: 'hi' })],
      [c('read', { path: 'a/x' })],
      (r) => last(r, 'text'),
    ],
    made: ['mkdir a', 'write a/x', 'read a/x'],
    answer: 'hi',
  },
  {
    category: 'multi-step',
    name: 'reads, then writes what it has read to another file',
    turns: [
      [c('write', { path: 'x', text: 'tea' })],
      [c('read', { path: 'x' })],
      (r) => [c('write', { path: 'y', text: last(r, 'text') })],
      [c('read', { path: 'y' })],
      (r) => last(r, 'text'),
    ],
    made: ['write x', 'read x', 'write y', 'read y'],
    answer: 'tea',
  },
  {
    category: 'multi-step',
    name: 'compares two cities one after another',
    turns: [[c('weather', { cityId: 'id-Bern' })], [c('weather', { cityId: 'id-Rome' })], 'Both are sunny'],
    made: ['weather id-Bern', 'weather id-Rome'],
    answer: 'Both are sunny',
  },
  {
    category: 'multi-step',
    name: 'repeats a call after the world has changed',
    turns: [
      [c('write', { path: 'x', text: 'one' })],
      [c('read', { path: 'x' })],
      [c('write', { path: 'x', text: 'two' })],
      [c('read', { path: 'x' })],
      (r) => last(r, 'text'),
    ],
    made: ['write x', 'read x', 'write x', 'read x'],
    answer: 'two',
  },
  {
    category: 'multi-step',
    name: 'stops early when the first result is enough',
    turns: [[c('weather', { cityId: 'id-Bern' })], (r) => last(r, 'sky')],
    made: ['weather id-Bern'],
    answer: 'sunny',
  },
  // Parallel: several calls in one turn, results in their order.
  {
    category: 'parallel',
    name: 'asks for two cities at once',
    turns: [
      [c('weather', { cityId: 'id-Bern' }), c('weather', { cityId: 'id-Rome' })],
      (r) => `${r.length} results`,
    ],
    made: ['weather id-Bern', 'weather id-Rome'],
    answer: '2 results',
  },
  {
    category: 'parallel',
    name: 'gets results in the order of its calls',
    turns: [
      [c('add', { a: 1, b: 1 }), c('add', { a: 2, b: 2 }), c('add', { a: 3, b: 3 })],
      (r) => r.map((each) => JSON.parse(each).sum).join(' '),
    ],
    made: ['add 1 1', 'add 2 2', 'add 3 3'],
    answer: '2 4 6',
  },
  {
    category: 'parallel',
    name: 'mixes two tools in one turn',
    turns: [
      [c('find_city', { name: 'Bern' }), c('add', { a: 4, b: 5 })],
      (r) => `${JSON.parse(r[0] ?? '').cityId} ${JSON.parse(r[1] ?? '').sum}`,
    ],
    made: ['find_city Bern', 'add 4 5'],
    answer: 'id-Bern 9',
  },
  {
    category: 'parallel',
    name: 'two turns of two calls',
    turns: [
      [c('find_city', { name: 'Bern' }), c('find_city', { name: 'Rome' })],
      (r) => r.slice(-2).map((each) => c('weather', { cityId: JSON.parse(each).cityId })),
      (r) => `${r.length}`,
    ],
    made: ['find_city Bern', 'find_city Rome', 'weather id-Bern', 'weather id-Rome'],
    answer: '4',
  },
  {
    category: 'parallel',
    name: 'one of two fails, the other counts',
    turns: [
      [c('read', { path: 'none' }), c('add', { a: 1, b: 1 })],
      (r) => `${/failed/.test(r[0] ?? '')} ${JSON.parse(r[1] ?? '{}').sum}`,
    ],
    made: ['read none', 'add 1 1'],
    answer: 'true 2',
  },
  {
    category: 'parallel',
    name: 'one of two is invalid, the other is made',
    turns: [
      [c('add', { a: 1 }), c('add', { a: 1, b: 1 })],
      (r) => `${/^Not run/.test(r[0] ?? '')} ${JSON.parse(r[1] ?? '{}').sum}`,
    ],
    made: ['add 1 1'],
    answer: 'true 2',
  },
  // Missing parameters: nothing is called without them, and the model reads which are missing.
  {
    category: 'missing parameters',
    name: 'adds the parameter that it forgot',
    turns: [
      [c('add', { a: 1 })],
      (r) => (/b/.test(r[0] ?? '') ? [c('add', { a: 1, b: 2 })] : 'lost'),
      (r) => last(r, 'sum'),
    ],
    made: ['add 1 2'],
    answer: '3',
  },
  {
    category: 'missing parameters',
    name: 'gives a text where a number is needed: it is read as one',
    turns: [[c('add', { a: '1', b: '2' })], (r) => last(r, 'sum')],
    made: ['add 1 2'],
    answer: '3',
  },
  {
    category: 'missing parameters',
    name: 'leaves out an optional parameter',
    turns: [[c('find_city', { name: 'Bern' })], (r) => last(r, 'cityId')],
    made: ['find_city Bern'],
    answer: 'id-Bern',
  },
  {
    category: 'missing parameters',
    name: 'gives a parameter that does not exist: it is left out',
    turns: [
      [c('read', { path: 'x', mode: 'r' })],
      (r) => (/^Not run/.test(r[0] ?? '') ? 'refused' : 'not there'),
    ],
    made: ['read x'],
    answer: 'not there',
  },
  {
    category: 'missing parameters',
    name: 'gives up and says what it needs',
    turns: [[c('weather', {})], (r) => (/cityId/.test(r[0] ?? '') ? 'Which city?' : 'lost')],
    made: [],
    answer: 'Which city?',
  },
  {
    category: 'missing parameters',
    name: 'gets a value outside of the list, and picks one of it',
    turns: [
      [c('find_city', { name: 'Bern', country: 'Swiss' })],
      [c('find_city', { name: 'Bern', country: 'CH' })],
      (r) => last(r, 'cityId'),
    ],
    made: ['find_city Bern'],
    answer: 'id-Bern',
  },
  // Irrelevance: no tool fits, and none is called.
  { category: 'irrelevance', name: 'answers what it knows', turns: ['Four'], made: [], answer: 'Four' },
  {
    category: 'irrelevance',
    name: 'says that no tool can do it',
    turns: ['No tool can book a table'],
    made: [],
    answer: 'No tool can book a table',
  },
  {
    category: 'irrelevance',
    name: 'invents a tool, reads which there are, and answers',
    turns: [
      [c('book_table', { at: 8 })],
      (r) => (/The tools are: .*weather/.test(r[0] ?? '') ? 'There is no such tool' : 'lost'),
    ],
    made: [],
    answer: 'There is no such tool',
  },
  {
    category: 'irrelevance',
    name: 'a later question needs no tool',
    turns: [[c('add', { a: 1, b: 1 })], 'Done; the rest is small talk'],
    made: ['add 1 1'],
    answer: 'Done; the rest is small talk',
  },
  // Correction: a tool fails, and the model does something else.
  {
    category: 'correction',
    name: 'reads a file that is not there, lists, and reads the right one',
    turns: [
      [c('write', { path: 'b', text: 'found' })],
      [c('read', { path: 'a' })],
      (r) => (/failed/.test(r.at(-1) ?? '') ? [c('read', { path: 'b' })] : 'lost'),
      (r) => last(r, 'text'),
    ],
    made: ['write b', 'read a', 'read b'],
    answer: 'found',
  },
  {
    category: 'correction',
    name: 'misspells a tool and corrects it',
    turns: [[c('ad', { a: 1, b: 1 })], [c('add', { a: 1, b: 1 })], (r) => last(r, 'sum')],
    made: ['add 1 1'],
    answer: '2',
  },
  {
    category: 'correction',
    name: 'tries another way after an error',
    turns: [
      [c('weather', { cityId: 'Bern' })],
      [c('find_city', { name: 'Bern' })],
      (r) => [c('weather', { cityId: last(r, 'cityId') })],
      (r) => last(r, 'sky'),
    ],
    made: ['weather Bern', 'find_city Bern', 'weather id-Bern'],
    answer: 'sunny',
  },
  {
    category: 'correction',
    name: 'is stopped from making the same failing call forever',
    turns: [
      [c('read', { path: 'no' })],
      [c('read', { path: 'no' })],
      [c('read', { path: 'no' })],
      (r) => (/^Not run/.test(r.at(-1) ?? '') ? 'I stop' : 'lost'),
    ],
    made: ['read no', 'read no'],
    answer: 'I stop',
  },
  {
    category: 'correction',
    name: 'sends damaged JSON, which is repaired',
    turns: [[c('add', "{a: 1, 'b': 2,}")], (r) => last(r, 'sum')],
    made: ['add 1 2'],
    answer: '3',
  },
  {
    category: 'correction',
    name: 'answers after an error with what it has',
    turns: [[c('read', { path: 'no' })], 'The file does not exist'],
    made: ['read no'],
    answer: 'The file does not exist',
  },
]
