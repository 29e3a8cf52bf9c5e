/**
 * The recorders of `events.ts`. Events that pass the correlator are written in the background, a few at a time; repeats
 * before the write cost nothing more.
 */
import { Event } from "./kinds.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { createEventCorrelator } from "./event-correlator.ts";
import type { EventRecorders, RecordedEvent } from "./events.ts";

/** More events accumulate only while the server does not accept them; then new ones are dropped. */
const MAX_WAITING = 1000;
/** Concurrent writes, which share a commit. */
const WRITERS = 8;
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;
/** The namespace for events of cluster-scoped objects. */
const CLUSTER_NAMESPACE = "default";

export interface EventRecordersOptions {
  client: Client;
  clock: Clock;
  log: Log;
}

export interface SharedEventRecorders {
  recorders: EventRecorders;
  /** True when every recorded event is written or dropped. */
  isQuiet(): boolean;
  /** Accepts no more events; resolves when the recorded ones are written. */
  stop(): Promise<void>;
}

/** A pending event; a new one is created, others get a new count. */
interface Draft {
  cluster: string;
  isNew: boolean;
  event: Event;
}

export function createEventRecorders({ client, clock, log }: EventRecordersOptions): SharedEventRecorders {
  const correlator = createEventCorrelator();
  const waiting = new Map<string, Draft>();
  /** Keys with a write in progress: their next write waits for it. */
  const active = new Set<string>();
  const writers = new Set<Promise<void>>();
  let serial = 0;
  let stopped = false;

  function record(
    component: string,
    cluster: string,
    regarding: DeepReadonly<KubernetesObject>,
    recorded: RecordedEvent,
  ): void {
    if (stopped || waiting.size >= MAX_WAITING) return;
    const nowMs = clock.now();
    const verdict = correlator.correlate(`${cluster}/${component}/${regarding.metadata.uid ?? ""}`, recorded, nowMs);
    if (!verdict.write) return;
    const { key, event, repeat } = verdict;
    const { name, count, firstMs } = repeat
      ? { ...repeat, count: repeat.count + 1 }
      : { name: eventName(regarding.metadata.name, nowMs, ++serial), count: 1, firstMs: nowMs };
    correlator.recordWritten(key, { name, count, firstMs });
    const isNew = waiting.get(key)?.isNew ?? !repeat;
    waiting.set(key, {
      cluster,
      isNew,
      event: eventOf(component, regarding, event, { name, count, firstMs, lastMs: nowMs }),
    });
    if (writers.size >= WRITERS) return;
    // In a later tick: recording is called during a reconcile, which must not wait.
    const writer = Promise.resolve().then(writeWaiting);
    writers.add(writer);
    void writer.finally(() => writers.delete(writer));
  }

  async function writeWaiting(): Promise<void> {
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      const draft = waiting.get(key) as Draft;
      waiting.delete(key);
      active.add(key);
      try {
        await write(draft);
      } catch (error) {
        correlator.forget(key);
        // A failed write can only be logged. A terminating namespace accepts no more events, which is usual.
        log.debug("event not written", { reason: draft.event.reason, object: draft.event.involvedObject.name, error });
      }
      active.delete(key);
    }
  }

  function nextKey(): string | undefined {
    for (const key of waiting.keys()) if (!active.has(key)) return key;
    return undefined;
  }

  async function write({ cluster, isNew, event }: Draft): Promise<void> {
    const { count = 1, message = "", lastTimestamp = "", metadata } = event;
    if (!isNew) {
      try {
        await client.patch(
          Event,
          { cluster, namespace: metadata.namespace ?? "", name: metadata.name },
          { count, message, lastTimestamp },
          { type: "merge" },
        );
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error; // Events expire; this one is created again.
      }
    }
    await client.create(Event, cluster, event);
  }

  return {
    recorders: (component) => ({ record: (cluster, regarding, event) => record(component, cluster, regarding, event) }),
    isQuiet: () => writers.size === 0,
    async stop() {
      stopped = true;
      await Promise.all(writers);
    },
  };
}

interface Occurrence {
  name: string;
  count: number;
  firstMs: number;
  lastMs: number;
}

function eventOf(
  component: string,
  { apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>,
  { type, reason, message }: RecordedEvent,
  { name, count, firstMs, lastMs }: Occurrence,
): Event {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: metadata.namespace ?? CLUSTER_NAMESPACE },
    involvedObject: {
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    reason,
    message: message.slice(0, MAX_MESSAGE),
    source: { component },
    reportingComponent: component,
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
    type,
  };
}

/**
 * As upstream names them: the object and the time in nanoseconds. The clock has milliseconds, so a serial number
 * distinguishes events of the same millisecond.
 */
function eventName(object: string, nowMs: number, serial: number): string {
  const suffix = (BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(serial % 1_000_000)).toString(16);
  return `${object.slice(0, MAX_NAME - suffix.length - 1).replace(/[.-]+$/, "")}.${suffix}`;
}
