/** Schemas of texts that models often write: notes, reviews, recipes, translations, quizzes. */
import type { NoiseSchema } from '../types.ts'
import { date, list, money, name, plain, prose, word } from '../words.ts'
import { array, flag, number, object, oneOfWords, text, whole } from './build.ts'

export const CONTENT: readonly NoiseSchema[] = [
  {
    name: 'medical-note',
    schema: object(
      {
        patient: object({ name: text, birthDate: { type: 'string', format: 'date' } }),
        complaint: text,
        diagnoses: array(object({ code: text, label: text, certain: flag }), { minItems: 1 }),
        vitals: object({ pulse: { type: 'integer', minimum: 20, maximum: 250 }, temperature: number }),
        allergies: { anyOf: [array(text), { type: 'null' }] },
      },
      { optional: ['allergies'] },
    ),
    make: (r) => ({
      patient: { name: name(r), birthDate: date(r) },
      complaint: prose(r),
      diagnoses: list(r, [1, 3], () => ({
        code: `J${r.int(10, 99)}.${r.int(0, 9)}`,
        label: prose(r),
        certain: r.chance(),
      })),
      vitals: { pulse: r.int(50, 140), temperature: r.int(355, 405) / 10 },
      ...(r.chance() ? { allergies: r.chance(0.3) ? null : list(r, [0, 2], () => plain(r)) } : {}),
    }),
  },
  {
    name: 'review-findings',
    schema: object({
      findings: array(
        object({
          file: text,
          line: { type: 'integer', minimum: 1 },
          severity: oneOfWords('info', 'minor', 'major', 'critical'),
          message: text,
          suggestion: { type: ['string', 'null'] },
        }),
      ),
      approved: flag,
    }),
    make: (r) => ({
      findings: list(r, [0, 3], () => ({
        file: `src/${r.pick(['app', 'lib', 'main'])}.ts`,
        line: r.int(1, 900),
        severity: r.pick(['info', 'minor', 'major', 'critical']),
        message: prose(r),
        suggestion: r.chance(0.3) ? null : prose(r),
      })),
      approved: r.chance(),
    }),
  },
  {
    name: 'sentiment',
    schema: object(
      {
        label: oneOfWords('positive', 'negative', 'neutral', 'not applicable'),
        confidence: { type: 'number', minimum: 0, maximum: 1 },
        rationale: text,
      },
      { optional: ['rationale'] },
    ),
    make: (r) => ({
      label: r.pick(['positive', 'negative', 'neutral', 'not applicable']),
      confidence: r.int(1, 99) / 100,
      ...(r.chance(0.7) ? { rationale: prose(r) } : {}),
    }),
  },
  {
    name: 'recipe',
    schema: object({
      title: text,
      servings: { type: 'integer', minimum: 1 },
      vegetarian: flag,
      ingredients: array(object({ item: text, grams: number }), { minItems: 1 }),
      steps: array(text),
    }),
    make: (r) => ({
      title: prose(r),
      servings: r.int(1, 12),
      vegetarian: r.chance(),
      ingredients: list(r, [1, 4], () => ({ item: word(r), grams: r.int(5, 2500) })),
      steps: list(r, [1, 3], () => prose(r)),
    }),
  },
  {
    name: 'translation',
    schema: object({ source_language: text, target_language: text, translated_text: text }),
    make: (r) => ({
      source_language: r.pick(['de', 'fr', 'ja', 'ar', 'hi']),
      target_language: r.pick(['en', 'es', 'zh']),
      translated_text: prose(r),
    }),
  },
  {
    name: 'quiz',
    schema: object({
      questions: array(
        object({
          question: text,
          options: array(text, { minItems: 2 }),
          answerIndex: { type: 'integer', minimum: 0, maximum: 3 },
        }),
        { minItems: 1 },
      ),
    }),
    make: (r) => ({
      questions: list(r, [1, 3], () => ({
        question: prose(r),
        options: list(r, [2, 4], () => (r.chance(0.3) ? prose(r) : word(r))),
        answerIndex: r.int(0, 3),
      })),
    }),
  },
  {
    name: 'code-answer',
    schema: object({ language: oneOfWords('python', 'typescript', 'sql'), code: text, explanation: text }),
    make: (r) => ({
      language: r.pick(['python', 'typescript', 'sql']),
      code: r.pick([
        'def f(x):\n    return {"a": x, "b": [1, 2]}',
        "const q = `SELECT '$a'`\n// not a comment\nrun(q)",
        'SELECT "name", count(*) FROM t WHERE a != \'b\' GROUP BY 1;',
        'print("hello, world")  # greet\nif x == {}:\n    pass',
        'const re = /^\\d+$/\nexport { re }',
      ]),
      explanation: prose(r),
    }),
  },
  {
    name: 'plan',
    schema: object({
      goal: text,
      steps: array(
        object({ title: text, dependsOn: array(whole), estimateHours: { type: ['number', 'null'] } }),
      ),
      approved: flag,
    }),
    make: (r) => ({
      goal: prose(r),
      steps: list(r, [1, 4], () => ({
        title: prose(r),
        dependsOn: list(r, [0, 2], () => r.int(0, 5)),
        estimateHours: r.chance(0.35) ? null : r.int(1, 80) / 2,
      })),
      approved: r.chance(),
    }),
  },
  {
    name: 'product-page',
    schema: object({
      headline: text,
      bullets: array(text),
      price: object({ amount: number, currency: oneOfWords('EUR', 'USD') }),
      discountPercent: { type: 'number', minimum: 0, maximum: 100 },
      seo: object({ slug: text, keywords: array(text) }),
    }),
    make: (r) => ({
      headline: prose(r),
      bullets: list(r, [1, 3], () => prose(r)),
      price: { amount: money(r, 20000), currency: r.pick(['EUR', 'USD']) },
      discountPercent: r.int(2, 75),
      seo: { slug: 'blue-shirt', keywords: list(r, [1, 3], () => word(r)) },
    }),
  },
]
