/** One request, while it waits and while it runs. */
import type { ClusterFlows } from "./cluster-flows.ts";
import type { QueuedRequest } from "./fair-queues.ts";
import { flowOf, type CompiledSchema, type FlowAttributes } from "./flow-match.ts";
import type { PriorityLevel } from "./priority-level.ts";

/** A request that runs. */
export interface Seat {
  readonly schemaUid: string;
  readonly levelUid: string;
  /** Must be called; further calls do nothing. */
  leave(): void;
}

interface TicketOptions {
  flows: ClusterFlows;
  level: PriorityLevel;
  schema: CompiledSchema;
  attributes: FlowAttributes;
  seats: number;
  nowMs: number;
  onLeave(ticket: Ticket): void;
}

/** A class, because one is created for each request. */
export class Ticket implements QueuedRequest, Seat {
  readonly flows: ClusterFlows;
  readonly level: PriorityLevel;
  readonly schema: CompiledSchema;
  readonly seats: number;
  readonly sinceMs: number;
  readonly attributes: FlowAttributes;
  readonly #onLeave: (ticket: Ticket) => void;
  startMs: number;
  queue: QueuedRequest["queue"];
  dispatch: () => void = nothing;
  #hasLeft = false;

  constructor({ flows, level, schema, attributes, seats, nowMs, onLeave }: TicketOptions) {
    this.flows = flows;
    this.level = level;
    this.schema = schema;
    this.seats = seats;
    this.sinceMs = nowMs;
    this.startMs = nowMs;
    this.attributes = attributes;
    this.#onLeave = onLeave;
  }

  /** The level is the cluster's own, so the logical cluster is part of the flow. */
  get flow(): string {
    return `${this.schema.name}/${this.distinguisher}`;
  }

  get distinguisher(): string {
    return flowOf(this.schema, this.attributes);
  }

  get schemaName(): string {
    return this.schema.name;
  }

  get schemaUid(): string {
    return this.schema.uid;
  }

  get levelUid(): string {
    return this.level.uid;
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#onLeave(this);
  }
}

const nothing = (): void => {};
