/**
 * Metrics of the API server, under the names that Kubernetes dashboards use. Every logical cluster has its own metrics,
 * as if it were a separate server; those of the process are the same for all.
 *
 * Labels come from served resources, never from client input, and the number of series is bounded.
 */
import { Histogram, MetricsText, writeGauge, writeProcessMetrics } from "@flotilla/base";
import type { Labels, Metric } from "@flotilla/base";
import type { Seat } from "../flowcontrol/ticket.ts";

/** Upper bounds in seconds, the same as those of Kubernetes' request durations, so that its dashboards work. */
const DURATION_BUCKETS: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

const REQUEST_LABELS = ["component", "dry_run", "group", "resource", "scope", "subresource", "verb", "version"];
const REQUESTS: Metric = {
  name: "apiserver_request_total",
  type: "counter",
  help: "Requests by verb, resource and response code.",
  labels: ["code", ...REQUEST_LABELS],
};
const DURATIONS: Metric = {
  name: "apiserver_request_duration_seconds",
  type: "histogram",
  help: "Duration of requests other than watches.",
  labels: REQUEST_LABELS,
  buckets: DURATION_BUCKETS,
};
const IN_FLIGHT: Metric = {
  name: "apiserver_current_inflight_requests",
  type: "gauge",
  help: "Requests in progress, in all logical clusters.",
  labels: ["request_kind"],
};
const LONG_RUNNING: Metric = {
  name: "apiserver_longrunning_requests",
  type: "gauge",
  help: "Open watches.",
  labels: ["component", "group", "resource", "scope", "subresource", "verb", "version"],
};
const WATCH_EVENTS: Metric = {
  name: "apiserver_watch_events_total",
  type: "counter",
  help: "Events sent to watchers.",
  labels: ["group", "resource", "version"],
};
const BACKLOG: Metric = {
  name: "flotilla_watch_backlog_bytes",
  type: "gauge",
  help: "Bytes buffered for watchers that have not read them yet; at 8 MiB writes to the cluster wait.",
  labels: [],
};
const OBJECTS: Metric = {
  name: "apiserver_storage_objects",
  type: "gauge",
  help: "Stored objects by resource.",
  labels: ["resource"],
};

export const serverMetrics: readonly Metric[] = [
  REQUESTS,
  DURATIONS,
  IN_FLIGHT,
  LONG_RUNNING,
  WATCH_EVENTS,
  BACKLOG,
  OBJECTS,
];

/** The labels of a request; filled in while it is handled. */
export interface ObservedRequest {
  cluster: string;
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  scope: "" | "cluster" | "namespace" | "resource";
  dryRun: boolean;
  /** The seat of the request, with its FlowSchema and its priority level. It may be left before the response. */
  flow?: Seat;
}

export interface ServerMetrics {
  /** A request starts; `end` is called when it finishes. */
  begin(isMutating: boolean): void;
  end(isMutating: boolean, request: ObservedRequest, code: number, seconds: number): void;
  /** A watch starts: returns the meter that counts its events and ends it. */
  watch(request: ObservedRequest): WatchMeter;
  /** The metrics of one cluster as text. `more` adds metrics of other components. */
  render(cluster: string, stored: StoredFigures, more?: (text: MetricsText) => void): string;
  /** The cluster was removed: a later cluster of the same name starts at zero. */
  forget(cluster: string): void;
}

/** Values that are looked up on each scrape. */
interface StoredFigures {
  /** Stored objects by resource. */
  objects: ReadonlyMap<string, number>;
  /** Bytes that watches buffer for their clients. */
  backlogBytes: number;
}

export interface WatchMeter {
  sent(events: number): void;
  close(): void;
}

interface RequestSeries {
  readonly labels: Labels;
  readonly codes: Map<number, number>;
  readonly duration: Histogram;
}

interface WatchSeries {
  readonly labels: Labels;
  running: number;
  events: number;
}

interface ClusterSeries {
  readonly requests: Map<string, RequestSeries>;
  readonly watches: Map<string, WatchSeries>;
}

/** The kinds times verbs of one cluster stay far below this; a client that creates CRDs in a loop does not. */
const MAX_SERIES_PER_CLUSTER = 5000;
const OTHER: Pick<ObservedRequest, "group" | "version" | "resource" | "subresource"> = {
  group: "other",
  version: "",
  resource: "other",
  subresource: "",
};

/** Requests that finish after their cluster was removed are not counted. */
export function createServerMetrics(isServed: (cluster: string) => boolean = () => true): ServerMetrics {
  const clusters = new Map<string, ClusterSeries>();
  let readOnly = 0;
  let mutating = 0;

  const seriesOf = (cluster: string): ClusterSeries => {
    let series = clusters.get(cluster);
    if (!series) clusters.set(cluster, (series = { requests: new Map(), watches: new Map() }));
    return series;
  };

  return {
    begin(isMutating) {
      if (isMutating) mutating++;
      else readOnly++;
    },
    end(isMutating, request, code, seconds) {
      if (isMutating) mutating--;
      else readOnly--;
      if (request.cluster !== "" && !isServed(request.cluster)) return;
      const series = requestSeries(seriesOf(request.cluster).requests, request);
      series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
      // The duration of a watch is not a measure of the server's speed.
      if (request.verb !== "WATCH") series.duration.observe(seconds);
    },
    watch(request) {
      const series = watchSeries(seriesOf(request.cluster).watches, request);
      series.running++;
      let closed = false;
      return {
        sent(events) {
          series.events += events;
        },
        close() {
          if (!closed) series.running--;
          closed = true;
        },
      };
    },
    render(cluster, { objects, backlogBytes }, more) {
      const text = new MetricsText();
      const { requests, watches } = seriesOf(cluster);
      writeRequests(text, [...requests.values()]);
      writeGauge(text, IN_FLIGHT, [
        [["mutating"], mutating],
        [["readOnly"], readOnly],
      ]);
      writeWatches(text, [...watches.values()]);
      writeGauge(text, BACKLOG, [[[], backlogBytes]]);
      writeGauge(
        text,
        OBJECTS,
        Array.from(objects, ([resource, count]) => [[resource], count] as const),
      );
      writeProcessMetrics(text);
      more?.(text);
      return text.finish();
    },
    forget: (cluster) => void clusters.delete(cluster),
  };
}

function requestSeries(all: Map<string, RequestSeries>, request: ObservedRequest): RequestSeries {
  const { verb, group, version, resource, subresource, scope, dryRun } = request;
  const key = `${verb} ${group}/${version}/${resource}/${subresource} ${scope}${dryRun ? " dry" : ""}`;
  let series = all.get(key);
  if (series) return series;
  if (all.size >= MAX_SERIES_PER_CLUSTER && resource !== OTHER.resource)
    return requestSeries(all, { ...request, ...OTHER });
  series = {
    labels: [
      ["component", "apiserver"],
      ["dry_run", dryRun ? "All" : ""],
      ["group", group],
      ["resource", resource],
      ["scope", scope],
      ["subresource", subresource],
      ["verb", verb],
      ["version", version],
    ],
    codes: new Map(),
    duration: new Histogram(DURATION_BUCKETS),
  };
  all.set(key, series);
  return series;
}

function watchSeries(all: Map<string, WatchSeries>, request: ObservedRequest): WatchSeries {
  const { group, version, resource, scope } = request;
  const key = `${group}/${version}/${resource} ${scope}`;
  let series = all.get(key);
  if (series) return series;
  if (all.size >= MAX_SERIES_PER_CLUSTER && resource !== OTHER.resource)
    return watchSeries(all, { ...request, ...OTHER });
  series = {
    labels: [
      ["component", "apiserver"],
      ["group", group],
      ["resource", resource],
      ["scope", scope],
      ["subresource", ""],
      ["verb", "WATCH"],
      ["version", version],
    ],
    running: 0,
    events: 0,
  };
  all.set(key, series);
  return series;
}

function writeRequests(text: MetricsText, all: readonly RequestSeries[]): void {
  text.family(REQUESTS);
  for (const { labels, codes } of all)
    for (const [code, count] of codes) text.sample(REQUESTS.name, [["code", String(code)], ...labels], count);
  text.family(DURATIONS);
  for (const { labels, duration } of all) duration.write(text, DURATIONS.name, labels);
}

function writeWatches(text: MetricsText, all: readonly WatchSeries[]): void {
  text.family(LONG_RUNNING);
  for (const { labels, running } of all) text.sample(LONG_RUNNING.name, labels, running);
  text.family(WATCH_EVENTS);
  const events = new Map<string, { labels: Labels; count: number }>();
  for (const { labels, events: count } of all) {
    const kept = labels.filter(([name]) => name === "group" || name === "resource" || name === "version");
    const key = JSON.stringify(kept);
    events.set(key, { labels: kept, count: (events.get(key)?.count ?? 0) + count });
  }
  for (const { labels, count } of events.values()) text.sample(WATCH_EVENTS.name, labels, count);
}
