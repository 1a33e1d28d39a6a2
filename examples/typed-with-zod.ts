/** A Zod schema (or any Standard Schema) in, a typed value out. */
import { parse } from 'proviso/output'
import { z } from 'zod'

const Order = z.object({
  id: z.string(),
  total: z.number(),
  status: z.enum(['open', 'paid', 'shipped']),
})

const result = parse('The order: {"id": "A-7", "total": "1,249.50", "status": "Paid"}', Order)

if (result.ok) {
  // `result.value` is { id: string; total: number; status: 'open' | 'paid' | 'shipped' }.
  const withTax: number = result.value.total * 1.2
  console.log(result.value)
  console.log(withTax.toFixed(2))
}

// Prints:
// { id: 'A-7', total: 1249.5, status: 'paid' }
// 1499.40
