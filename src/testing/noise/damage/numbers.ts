/** Damage to numbers: as strings, with separators, signs, currencies, other notations. */
import { expectsType, type Site } from '../shape.ts'
import { nextSolid, retext } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, listSites, pickOrNot } from './outcome.ts'

interface Options {
  /** Only if the schema expects an integer. */
  readonly integer?: true
  readonly fits?: (value: number, site: Site) => boolean
  /** Only as the value of a member, where a comma inside the number cannot be a separator of the list. */
  readonly member?: true
}

function number(
  name: string,
  options: Options,
  spell: (value: number, random: Parameters<Damage['apply']>[0]) => string,
): Damage {
  return {
    name,
    family: 'number',
    slot: 'value',
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined || isText(sample)) return undefined
      const wanted = new Map(
        listSites(sample)
          .filter((site) =>
            expectsType(
              site,
              ...(options.integer ? (['integer'] as const) : (['integer', 'number'] as const)),
            ),
          )
          .map((site) => [site.at, site]),
      )
      const index = pickOrNot(
        random,
        findIndexes(tokens, (token, i) => {
          const site = wanted.get(token.at)
          if (token.kind !== 'number' || site === undefined || typeof token.value !== 'number') return false
          if (options.member && tokens[nextSolid(tokens, i, -1)]?.kind !== 'colon') return false
          return options.fits?.(token.value, site) ?? true
        }),
      )
      if (index === undefined) return undefined
      return edited(sample, retext(tokens, index, spell(tokens[index]!.value as number, random)))
    },
  }
}

const grouped = (value: number): string => {
  const [whole = '', rest] = String(value).split('.')
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return rest === undefined ? groups : `${groups}.${rest}`
}

const isThousands = (value: number): boolean => value >= 1000

export const NUMBERS: readonly Damage[] = [
  number('number-quoted', {}, (value) => JSON.stringify(String(value))),
  number('number-quoted-spaces', {}, (value) => JSON.stringify(` ${value} `)),
  number('number-quoted-decimal', { integer: true }, (value) => `"${value}.0"`),
  number('number-separators', { fits: isThousands }, (value) => JSON.stringify(grouped(value))),
  number('number-separators-bare', { fits: isThousands, member: true }, grouped),
  number(
    'number-currency',
    {
      fits: (value, site) => value > 1 && !('maximum' in site.schema) && /price|amount|total/i.test(site.at),
    },
    (value, r) =>
      JSON.stringify(r.pick([`$${value}`, `€${value}`, `€ ${value}`, `$${grouped(value)}`, `${value} €`])),
  ),
  number(
    'number-currency-bare',
    { member: true, fits: (value, site) => value > 1 && /price|amount|total/i.test(site.at) },
    (value, r) => r.pick([`$${value}`, `€${value}`]),
  ),
  number(
    'number-percent',
    { fits: (value, site) => site.schema['maximum'] === 100 && value > 1 && /rate|percent/i.test(site.at) },
    (value, r) => JSON.stringify(r.pick([`${value}%`, `${value} %`])),
  ),
  number('number-plus', { fits: (value) => value > 0 }, (value) => `+${value}`),
  number(
    'number-hex',
    { integer: true, fits: (value) => value > 0 },
    (value) => `0x${value.toString(16).toUpperCase()}`,
  ),
  number('number-underscores', { fits: isThousands }, (value) => grouped(value).replaceAll(',', '_')),
  number('number-leading-zeros', { integer: true, fits: (value) => value > 0 }, (value) => `00${value}`),
  number('number-bare-point', { fits: (value) => value > 0 && value < 1 }, (value) => String(value).slice(1)),
  number('number-trailing-point', { fits: (value) => Number.isInteger(value) }, (value) => `${value}.`),
  number('number-exponent', { fits: (value) => value > 0 }, (value) =>
    value.toExponential().replace('e+', 'E'),
  ),
  number('number-sum', { integer: true, member: true, fits: (value) => value > 2 }, (value, r) => {
    const first = r.int(1, value - 1)
    return `${first} + ${value - first}`
  }),
  number('number-quoted-plus', { integer: true, fits: (value) => isThousands(value) }, (value) =>
    JSON.stringify(`+${value}`),
  ),
]
