/** Replaces `error-table.ts` in the light reader, which throws no other errors. */
export { readerErrors as errorTable } from '../reader-errors.ts'
