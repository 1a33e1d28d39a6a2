/** All schemas of the noise corpus, each with a generator of instances. */
import { BUSINESS } from './schemas/business.ts'
import { CONTENT } from './schemas/content.ts'
import { FORMS } from './schemas/forms.ts'
import type { NoiseSchema } from './types.ts'

export const NOISE_SCHEMAS: readonly NoiseSchema[] = [...BUSINESS, ...CONTENT, ...FORMS]
