/** Schemas of office work: invoices, tickets, settings, ledgers. */
import type { Json } from '../../../base/json.ts'
import type { NoiseSchema } from '../types.ts'
import { date, email, identifier, list, money, name, plain, prose, word } from '../words.ts'
import { array, flag, number, object, oneOfWords, text, whole } from './build.ts'

export const BUSINESS: readonly NoiseSchema[] = [
  {
    name: 'person',
    schema: object({
      name: text,
      age: { type: 'integer', minimum: 0, maximum: 130 },
      email: { type: 'string', format: 'email' },
      active: flag,
      nickname: { type: ['string', 'null'] },
    }),
    make: (r) => ({
      name: name(r),
      age: r.int(18, 99),
      email: email(r),
      active: r.chance(),
      nickname: r.chance() ? null : plain(r),
    }),
  },
  {
    name: 'invoice',
    schema: object({
      invoiceNumber: text,
      issueDate: { type: 'string', format: 'date' },
      customer: object({ name: text, address: text, postcode: text }),
      lines: array(object({ description: text, quantity: whole, unitPrice: number })),
      total: { type: 'number', minimum: 0 },
      currency: oneOfWords('EUR', 'USD', 'JPY'),
      paid: flag,
    }),
    make: (r) => ({
      invoiceNumber: identifier(r),
      issueDate: date(r),
      customer: { name: name(r), address: prose(r), postcode: String(r.int(1000, 9999)) },
      lines: list(r, [1, 4], () => ({
        description: prose(r),
        quantity: r.int(1, 20),
        unitPrice: money(r, 300),
      })),
      total: money(r, 90000),
      currency: r.pick(['EUR', 'USD', 'JPY']),
      paid: r.chance(),
    }),
  },
  {
    name: 'ticket',
    schema: object(
      {
        ticket_id: text,
        category: oneOfWords('Général', 'Réclamation', 'Qualité', 'Accès'),
        priority: oneOfWords('low', 'normal', 'high', 'very-high'),
        summary: text,
        escalate: flag,
        assignee: { anyOf: [text, { type: 'null' }] },
      },
      { optional: ['assignee'] },
    ),
    make: (r) => ({
      ticket_id: identifier(r),
      category: r.pick(['Général', 'Réclamation', 'Qualité', 'Accès']),
      priority: r.pick(['low', 'normal', 'high', 'very-high']),
      summary: prose(r),
      escalate: r.chance(),
      ...(r.chance() ? { assignee: r.chance() ? null : name(r) } : {}),
    }),
  },
  {
    name: 'settings',
    schema: object({
      maxRetries: { type: 'integer', minimum: 0 },
      isEnabled: flag,
      logLevel: oneOfWords('debug', 'info', 'warning', 'error'),
      sampleRate: { type: 'number', minimum: 0, maximum: 100 },
      displayName: text,
      hooks: array(text),
    }),
    make: (r) => ({
      maxRetries: r.int(0, 9),
      isEnabled: r.chance(),
      logLevel: r.pick(['debug', 'info', 'warning', 'error']),
      sampleRate: r.int(15, 990) / 10,
      displayName: prose(r),
      hooks: list(r, [0, 3], () => prose(r)),
    }),
  },
  {
    name: 'order',
    schema: object({
      order_id: text,
      shipping_address: object({ street_name: text, city_name: text, zip_code: text }),
      item_count: whole,
      gift_wrap: flag,
    }),
    make: (r) => ({
      order_id: identifier(r),
      shipping_address: { street_name: prose(r), city_name: word(r), zip_code: String(r.int(10000, 99999)) },
      item_count: r.int(1, 50),
      gift_wrap: r.chance(),
    }),
  },
  {
    name: 'ledger',
    schema: object({
      transactions: array(
        object({ id: { type: ['integer', 'string'] }, amount: number, units: whole, memo: text }),
        { minItems: 1 },
      ),
      closed: flag,
    }),
    make: (r) => ({
      transactions: list(r, [1, 3], () => ({
        id: r.int(1, 999),
        amount: money(r),
        units: r.int(1000, 5_000_000),
        memo: prose(r),
      })),
      closed: r.chance(),
    }),
  },
  {
    name: 'deployment',
    schema: object({
      region: oneOfWords('us-east', 'us_east', 'eu-west'),
      replicas: { type: 'integer', minimum: 1, maximum: 64 },
      rollback: flag,
      notes: text,
    }),
    make: (r) => ({
      region: r.pick(['us-east', 'us_east', 'eu-west']),
      replicas: r.int(1, 64),
      rollback: r.chance(),
      notes: prose(r),
    }),
  },
  {
    name: 'payment',
    schema: object({
      method: {
        anyOf: [
          object({ kind: { const: 'card' }, last4: text, expiryYear: whole }),
          object({ kind: { const: 'transfer' }, iban: text }),
        ],
      },
      amount: { type: 'number', minimum: 0 },
      reference: text,
    }),
    make: (r): Json => ({
      method: r.chance()
        ? { kind: 'card', last4: String(r.int(1000, 9999)), expiryYear: r.int(2026, 2035) }
        : { kind: 'transfer', iban: `DE${r.int(10, 99)}5001` },
      amount: money(r),
      reference: prose(r),
    }),
  },
  {
    name: 'meeting',
    schema: object(
      {
        title: text,
        startsAt: { type: 'string', format: 'date-time' },
        durationMinutes: { type: 'integer', minimum: 5, maximum: 600 },
        attendees: array({ type: 'string', format: 'email' }),
        location: { type: ['string', 'null'] },
      },
      { open: true },
    ),
    make: (r) => ({
      title: prose(r),
      startsAt: `${date(r)}T0${r.int(1, 9)}:30:00Z`,
      durationMinutes: r.int(5, 600),
      attendees: list(r, [1, 4], () => email(r)),
      location: r.chance(0.4) ? null : plain(r),
    }),
  },
]
