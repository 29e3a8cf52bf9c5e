/** Metrics of priority and fairness, under the names that Kubernetes dashboards use. */
import { counter, Counts, gauge, histogram, Histograms, writeGauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { CompiledSchema } from "./flow-match.ts";
import type { PriorityLevel } from "./priority-level.ts";
import type { RejectionReason } from "./rejection-reason.ts";

const WAIT_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

const DISPATCHED = counter(
  "apiserver_flowcontrol_dispatched_requests_total",
  "Requests that began to execute.",
  "priority_level",
  "flow_schema",
);
const REJECTED = counter(
  "apiserver_flowcontrol_rejected_requests_total",
  "Requests that were rejected because of the limit of their priority level.",
  "priority_level",
  "flow_schema",
  "reason",
);
const WAITS = histogram(
  "apiserver_flowcontrol_request_wait_duration_seconds",
  "How long requests waited in a queue; those that did not wait are not counted.",
  WAIT_BUCKETS,
  "priority_level",
  "flow_schema",
  "execute",
);
const level = (name: string, help: string): Metric => gauge(`apiserver_flowcontrol_${name}`, help, "priority_level");
const IN_QUEUE = level("current_inqueue_requests", "Requests that wait in the queues of a priority level.");
const EXECUTING = level("current_executing_requests", "Requests of a priority level in progress.");
const EXECUTING_SEATS = level("current_executing_seats", "Seats that requests in progress occupy.");
const NOMINAL = level("nominal_limit_seats", "Seats of a priority level by its share.");
const LOWER = level("lower_limit_seats", "Seats that a priority level never lends.");
const UPPER = level("upper_limit_seats", "Seats of a priority level with everything that it may borrow.");
const CURRENT = level(
  "current_limit_seats",
  "Current number of seats of a priority level, including borrowed seats and without lent ones.",
);
const HIGH = level("demand_seats_high_watermark", "The largest demand for seats in the last period of 10 s.");
const SMOOTHED = level("demand_seats_smoothed", "The demand for seats, smoothed over some minutes.");

export const flowMetrics: readonly Metric[] = [
  DISPATCHED,
  REJECTED,
  WAITS,
  IN_QUEUE,
  EXECUTING,
  EXECUTING_SEATS,
  NOMINAL,
  LOWER,
  UPPER,
  CURRENT,
  HIGH,
  SMOOTHED,
];

/** The counts of one cluster. */
export class FlowMetrics {
  readonly #rejected = new Counts(REJECTED);
  readonly #waits = new Histograms(WAITS);
  /** Of schemas that were changed since: a changed schema counts from zero in its own place. */
  readonly #former = new Counts(DISPATCHED);

  rejected({ level: name, name: schema }: CompiledSchema, reason: RejectionReason): void {
    this.#rejected.add([name, schema, reason]);
  }

  waited({ level: name, name: schema }: CompiledSchema, seconds: number, executes: boolean): void {
    this.#waits.observe([name, schema, String(executes)], seconds);
  }

  keep(schemas: readonly CompiledSchema[]): void {
    for (const { level: name, name: schema, dispatched } of schemas)
      if (dispatched > 0) this.#former.add([name, schema], dispatched);
  }

  write(text: MetricsText, schemas: readonly CompiledSchema[], levels: readonly PriorityLevel[]): void {
    this.keep(schemas);
    for (const schema of schemas) schema.dispatched = 0;
    this.#former.write(text);
    this.#rejected.write(text);
    this.#waits.write(text);
    const each = (metric: Metric, value: (level: PriorityLevel) => number): void =>
      writeGauge(
        text,
        metric,
        levels.map((one) => [[one.name], value(one)] as const),
      );
    each(IN_QUEUE, ({ waiting }) => waiting);
    each(EXECUTING, ({ running }) => running.size);
    each(EXECUTING_SEATS, ({ executing }) => executing);
    each(NOMINAL, ({ limits }) => limits.nominal);
    each(LOWER, ({ limits }) => limits.min);
    each(UPPER, ({ limits }) => limits.max);
    each(CURRENT, ({ current }) => current);
    each(HIGH, ({ demand }) => demand.highWatermark);
    each(SMOOTHED, ({ demand }) => demand.smoothed);
  }
}
