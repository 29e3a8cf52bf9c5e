/**
 * Failures that are reported as events, and their end. A continuing failure is reported again from time to time; its end
 * is reported once, and only after a reported failure.
 *
 * Events outlive the process: what an earlier process reported is read back when this one sees its first success. Else
 * a failure that ended while no controllers ran would count until its event expires.
 */
import { ApiError } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { EventRecorder } from "./events.ts";
import { Event } from "./kinds.ts";

type Regarding = DeepReadonly<KubernetesObject>;

export interface FailureReports {
  /** Returns whether the failure is reported now. The reason ends in `Failed`. */
  failed(regarding: Regarding, reason: string, message: string): boolean;
  /** Returns whether this process had reported the failure. Costs nothing while nothing fails. */
  over(regarding: Regarding, reason: string): boolean;
}

export interface FailureReportsOptions {
  cluster: string;
  /** The source of the events, which only this part of the program uses. */
  component: string;
  client: Pick<Client, "list">;
  events: EventRecorder;
  /** By reason: the message that reports the end. Its reason ends in `Succeed`. */
  endings: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
}

/**
 * The same failure is reported again after this long: events about one object are limited, and a new failure must find
 * room among them.
 */
export const REPORT_AGAIN_MS = 5 * 60_000;
const MAX_REMEMBERED = 10_000;
/** Seen while the events are read; of more, the next success counts. */
const MAX_EARLY = 100_000;
const READ_AGAIN_MS = 60_000;

export function createFailureReports(options: FailureReportsOptions): FailureReports {
  const { cluster, component, client, events, endings, clock, log } = options;
  const reported = new Map<string, { message: string; atMs: number }>();
  /** What was seen before the events were read, and is newer than they are. */
  const early = new Map<string, "failed" | "succeeded">();
  let recall: "before" | "reading" | "done" = "before";
  let readAgainMs = 0;

  function remember(id: string, message: string, atMs: number): void {
    reported.delete(id);
    reported.set(id, { message, atMs });
    if (reported.size > MAX_REMEMBERED) reported.delete(reported.keys().next().value ?? "");
  }

  function see(id: string, result: "failed" | "succeeded"): void {
    if (recall === "done" || early.get(id) === "failed" || (early.size >= MAX_EARLY && !early.has(id))) return;
    early.set(id, result);
  }

  const reportEnd = (regarding: Regarding, reason: string): void =>
    events.record(cluster, regarding, {
      type: "Normal",
      reason: endOf(reason),
      message: endings[reason] ?? "",
    });

  async function readEvents(): Promise<void> {
    recall = "reading";
    try {
      const last = new Map<string, DeepReadonly<Event>>();
      const where = { cluster, fieldSelector: `reportingComponent=${component}` };
      for await (const event of eachObject(client, Event, where)) {
        const id = idOfEvent(event);
        const known = last.get(id);
        if (!known || timeOf(known) <= timeOf(event)) last.set(id, event);
      }
      for (const [id, event] of last) {
        const { reason = "", message = "", involvedObject } = event;
        if (endings[reason] === undefined || early.get(id) === "failed") continue;
        const { apiVersion = "", kind = "", namespace, name = "", uid } = involvedObject;
        if (early.get(id) === "succeeded") reportEnd({ apiVersion, kind, metadata: { namespace, name, uid } }, reason);
        else remember(id, message, timeOf(event));
      }
      recall = "done";
    } catch (error) {
      // An agent may not read events; its Works have the failures in their conditions.
      recall = error instanceof ApiError && error.status.code === 403 ? "done" : "before";
      readAgainMs = clock.now() + READ_AGAIN_MS;
      log.debug("reported failures not read", { component, error });
    }
    if (recall === "done") early.clear();
  }

  return {
    failed(regarding, reason, message) {
      const id = idOf(regarding, reason);
      see(id, "failed");
      const last = reported.get(id);
      const nowMs = clock.now();
      if (last?.message === message && nowMs - last.atMs < REPORT_AGAIN_MS) return false;
      remember(id, message, nowMs);
      events.record(cluster, regarding, { type: "Warning", reason, message });
      return true;
    },
    over(regarding, reason) {
      if (recall !== "done") {
        // The end of a failure that this process reported is reported below.
        see(idOf(regarding, reason), "succeeded");
        if (recall === "before" && clock.now() >= readAgainMs) void readEvents();
      }
      if (reported.size === 0 || !reported.delete(idOf(regarding, reason))) return false;
      reportEnd(regarding, reason);
      return true;
    },
  };
}

const idOf = ({ metadata }: Regarding, reason: string): string => `${metadata.uid ?? metadata.name}/${reason}`;
const endOf = (reason: string): string => reason.replace(/Failed$/, "Succeed");

/** Of a failure and of its end. */
function idOfEvent({ involvedObject: { uid, name }, reason = "" }: DeepReadonly<Event>): string {
  return `${uid ?? name ?? ""}/${reason.replace(/Succeed$/, "Failed")}`;
}

const timeOf = ({ lastTimestamp }: DeepReadonly<Event>): number => Date.parse(lastTimestamp ?? "") || 0;
