/**
 * Port to a queue that delivers runs to the processes that execute them, such as Restate. Without one, each process polls the
 * store for due runs (`engine/claim/run-poller.ts`). The journal decides what there is to do: a delivery that comes twice, late
 * or for a run that is over changes nothing.
 */

export interface QueueMessage {
  readonly runId: string
  /** Messages about a run with the same id within a minute are delivered once. Default: each is delivered. */
  readonly id?: string
  /**
   * The run is late: its message was lost, or its owner is silent. Delivered although another delivery of the run may be
   * under way; other messages about a run are delivered one after another.
   */
  readonly isLate?: true
}

export interface Delivery {
  readonly runId: string
  readonly isLate: boolean
  /** Aborted when the queue no longer waits for this delivery: it is over, or the connection broke and it is repeated. */
  readonly signal: AbortSignal
}

/** The outcome of a delivery: when the run has to be delivered again, in milliseconds since 1970. Absent: it need not. */
export interface Delivered {
  readonly again?: number
}

/** Executes a run until nothing is left to do here. If it rejects, the queue soon delivers the run again, to this process or another. */
export type Receive = (delivery: Delivery) => Promise<Delivered>

export interface Queue {
  /** Begins the names of the owners whose leases a delivery may take over: `NAME/…`. */
  readonly name: string
  /** Checks that the queue can be used; with `receive`, this process takes deliveries from now on. */
  open(receive?: Receive): Promise<void>
  /** Has a run delivered. Resolves when the queue has stored the message. */
  send(message: QueueMessage): Promise<void>
  /** Takes no more deliveries. Those under way may end until `end`. */
  close(): Promise<void>
  /** Closes the connections. */
  end(): Promise<void>
}
