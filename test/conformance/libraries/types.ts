/** Type tests of the matrix: what `parse` promises for a column is what the rows say. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Infer } from '../../../src/output/index.ts'
import type { Feature, Values } from './rows.ts'

/** A library's schemas; a feature that it does not have is left out. */
export type Column = { readonly [F in Feature]?: StandardSchemaV1 }

export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Intersections as one object, so that equal members are equal types. */
type Flat<T> = T extends Date | string | number | bigint | boolean | null
  ? T
  : T extends object
    ? { [K in keyof T]: Flat<T[K]> }
    : T

/** The features whose promised type is another; `Special` are the types that this library has in its own form. */
export type Mismatch<C extends Column, Special = unknown> = {
  [F in keyof C & Feature]: Equal<
    F extends 'recursive' ? Infer<C[F]> : Flat<Infer<C[F]>>,
    F extends keyof Special ? Flat<Special[F]> : F extends 'recursive' ? Values[F] : Flat<Values[F]>
  > extends true
    ? never
    : F
}[keyof C & Feature]

/** Does not compile for `true`-less arguments: the name of the mismatch is in the message. */
export type Matches<T extends never> = T
