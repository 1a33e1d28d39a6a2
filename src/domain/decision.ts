/** What a person may decide about an ask, and what may follow a rejection. */

export type Decision = 'approve' | 'edit' | 'reject' | 'answer'

/** The run or node fails, the producing nodes run again with feedback, or a new plan is made. */
export type RejectAction = 'fail' | 'retry' | 'replan'
