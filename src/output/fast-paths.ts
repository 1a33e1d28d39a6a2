/** Whether shortcuts for long texts are part of the reader: results are the same without them. */
export const hasFastPaths: boolean = true
