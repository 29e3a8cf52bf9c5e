/**
 * Keeps the rows of the fleet up to date for everyone who sees the same part of it.
 *
 * Reads: Clusters, ManagedClusters, Leases and bindings of the hub, through watches; copies on members where there are
 * few enough members; the problems that `flotilla status` and `flotilla doctor` find.
 *
 * Changes are gathered for 100 ms and packed once for all tabs. Without tabs everything stops after a minute.
 */
import { gzipSync } from "node:zlib";
import { HUB } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Log, Timer } from "@flotilla/base";
import type { FleetSummaries } from "@flotilla/cli";
import { createInformers } from "@flotilla/controller-runtime";
import type { SharedInformers } from "@flotilla/controller-runtime";
import type { Client } from "@flotilla/client";
import { Cluster, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import type { Kind } from "@flotilla/apimachinery";
import { FRAME, packWorkloads, workloadId } from "@flotilla/web";
import type { FleetMessage, MemberRow, Scope, WorkloadRow } from "@flotilla/web";
import { memberRow, workloadRow } from "./fleet-rows.ts";
import { createMemberCopies } from "./member-copies.ts";
import type { MemberCopies } from "./member-copies.ts";

export interface FleetFeed {
  readonly scope: Scope;
  /** Resolves when the rows are complete. */
  synced(signal: AbortSignal): Promise<void>;
  /** The whole fleet, as bytes that are made once per change. */
  snapshot(): Uint8Array;
  members(): readonly MemberRow[];
  workloads(): readonly WorkloadRow[];
  /** Calls back with every change, packed. */
  subscribe(listener: (change: Uint8Array) => void): () => void;
  /** Problems of workloads, by `Kind namespace/name`, as `flotilla status` words them. */
  setProblems(problems: ReadonlyMap<string, string>): void;
  /** Called at most once per change of anything; for what is computed from the whole fleet. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface FleetFeedOptions {
  client: Client;
  scope: Scope;
  summaries: FleetSummaries;
  clock: Clock;
  log: Log;
}

const GATHER_MS = 100;
/** Ages and silent agents change without an event. */
const REFRESH_MS = 10_000;
/** Below this size compressing costs more than it saves. */
const COMPRESS_FROM_BYTES = 16 * 1024;

type Binding = DeepReadonly<ResourceBinding>;

export function createFleetFeed(options: FleetFeedOptions): FleetFeed {
  const { client, scope, summaries, clock, log } = options;
  const views = createFeedViews(options);
  const rows = new Map<string, WorkloadRow>();
  const sources = new Map<string, Binding>();
  let members = new Map<string, MemberRow>();
  let problems: ReadonlyMap<string, string> = new Map();
  const dirty = new Set<string>();
  let membersDirty = true;
  let timer: Timer | undefined;
  let packed: Uint8Array | undefined;
  const listeners = new Set<(change: Uint8Array) => void>();
  const watchers = new Set<() => void>();

  const schedule = (): void => {
    timer ??= clock.after(GATHER_MS, () => {
      timer = undefined;
      flush();
    });
  };
  const touch = (id: string): void => {
    dirty.add(id);
    schedule();
  };
  const touchMembers = (): void => {
    membersDirty = true;
    schedule();
  };
  const copies: MemberCopies = createMemberCopies({
    client,
    clock,
    log,
    namespaces: scope.namespaces,
    onChange: touch,
  });

  const stops = [
    ...views.bindings.map((informer) =>
      informer.subscribe(({ object, deleted }) => {
        const { apiVersion, kind, namespace = "", name } = object.spec.resource;
        const id = workloadId({ apiVersion, kind, namespace, name });
        if (deleted) {
          if (sources.delete(id)) copies.release({ apiVersion, kind });
        } else {
          if (!sources.has(id)) copies.want({ apiVersion, kind });
          sources.set(id, object);
        }
        touch(id);
      }),
    ),
    ...views.onMembers(touchMembers),
  ];
  const refreshing = every(clock, REFRESH_MS, touchMembers);

  function rowOf(binding: Binding): WorkloadRow {
    const { apiVersion, kind, namespace = "", name } = binding.spec.resource;
    return workloadRow({
      binding,
      policy: summaries.workload(binding).policy ?? "",
      // Without the right to list members nothing is known against them.
      isReady: (member) => !views.hasClusters || members.get(member)?.state !== "away",
      liveCopy: (member) => copies.find(member, { apiVersion, kind, namespace, name }),
      problem: problems.get(`${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`),
      nowMs: clock.now(),
    });
  }

  function flush(): void {
    const changedMembers: MemberRow[] = [];
    const goneMembers: string[] = [];
    if (membersDirty) {
      membersDirty = false;
      const before = members;
      members = views.readMembers();
      for (const [name, row] of members) {
        const old = before.get(name);
        if (JSON.stringify(old) === JSON.stringify(row)) continue;
        changedMembers.push(row);
        // Its cells are stale from now on, or no longer.
        if (old?.state !== row.state) for (const [id, binding] of sources) if (names(binding, name)) dirty.add(id);
      }
      for (const name of before.keys()) if (!members.has(name)) goneMembers.push(name);
      copies.setMembers(
        [...members.values()].filter(({ state, apis }) => state === "ready" && apis.includes("karmada")),
      );
    }
    const changed: WorkloadRow[] = [];
    const goneWorkloads: string[] = [];
    for (const id of dirty) {
      const binding = sources.get(id);
      const old = rows.get(id);
      if (!binding) {
        if (rows.delete(id)) goneWorkloads.push(id);
        continue;
      }
      const row = rowOf(binding);
      if (old && JSON.stringify(old) === JSON.stringify(row)) continue;
      rows.set(id, row);
      changed.push(row);
    }
    dirty.clear();
    if (changedMembers.length + goneMembers.length + changed.length + goneWorkloads.length === 0) return;
    packed = undefined;
    if (listeners.size > 0) {
      const change = frame({
        type: "change",
        members: changedMembers,
        goneMembers,
        workloads: packWorkloads(changed),
        goneWorkloads,
      });
      for (const listener of listeners) listener(change);
    }
    for (const watcher of watchers) watcher();
  }

  return {
    scope,
    async synced(signal) {
      await views.synced(signal);
      flush();
    },
    snapshot() {
      packed ??= frame({
        type: "snapshot",
        scope: { ...scope, live: copies.isLive() },
        members: [...members.values()],
        workloads: packWorkloads(rows.values()),
      });
      return packed;
    },
    members: () => [...members.values()],
    workloads: () => [...rows.values()],
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onChange(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    setProblems(next) {
      for (const [id, { spec }] of sources) {
        const { kind, namespace = "", name } = spec.resource;
        const title = `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
        if (problems.get(title) !== next.get(title)) touch(id);
      }
      problems = next;
    },
    close() {
      for (const stop of stops) stop();
      refreshing();
      timer?.cancel();
      copies.close();
      views.close();
    },
  };
}

/** What the feed reads of the hub: only the kinds and namespaces that its users may read. */
function createFeedViews({ client, scope, summaries, clock, log }: FleetFeedOptions) {
  const isHidden = (kind: Kind): boolean => scope.hidden.includes(kind.plural);
  const hub = createInformers({ client, clock, log, scope: { cluster: HUB } });
  /** Rights in some namespaces: one watch in each. */
  const perNamespace = scope.namespaces?.map((namespace) =>
    createInformers({ client: within(client, namespace), clock, log, scope: { cluster: HUB } }),
  );
  const clusters = isHidden(Cluster) ? undefined : hub.of(Cluster);
  const managed = isHidden(ManagedCluster) ? undefined : hub.of(ManagedCluster);
  const leases = isHidden(Lease) ? undefined : hub.of(Lease);
  const bindings = (perNamespace ?? (isHidden(ResourceBinding) ? [] : [hub])).map((each) => each.of(ResourceBinding));
  if (!perNamespace && !isHidden(ClusterResourceBinding)) bindings.push(hub.of(ClusterResourceBinding));

  return {
    bindings,
    hasClusters: clusters !== undefined,
    onMembers: (listener: () => void): (() => void)[] => [
      ...[clusters, managed].flatMap((informer) => (informer ? [informer.subscribe(listener)] : [])),
      ...(leases ? [leases.subscribe(listener)] : []),
    ],
    readMembers(): Map<string, MemberRow> {
      const faces = new Map((clusters?.list({ cluster: HUB }) ?? []).map((each) => [each.metadata.name, each]));
      const others = new Map((managed?.list({ cluster: HUB }) ?? []).map((each) => [each.metadata.name, each]));
      const statuses = summaries.members({
        clusters: [...faces.values()],
        managedClusters: [...others.values()],
        leases: leases?.list({ cluster: HUB }) ?? [],
        nowMs: clock.now(),
      });
      return new Map(
        statuses.map((status) => [status.name, memberRow(status, faces.get(status.name), others.get(status.name))]),
      );
    },
    async synced(signal: AbortSignal): Promise<void> {
      const all: SharedInformers[] = [hub, ...(perNamespace ?? [])];
      for (const each of all) await each.whenSynced(signal);
    },
    close(): void {
      hub.close();
      for (const each of perNamespace ?? []) each.close();
    },
  };
}

function every(clock: Clock, ms: number, run: () => void): () => void {
  let timer = clock.after(ms, function again() {
    run();
    timer = clock.after(ms, again);
  });
  return () => timer.cancel();
}

const names = ({ spec, status }: Binding, member: string): boolean =>
  (spec.clusters ?? []).some(({ name }) => name === member) ||
  (status?.aggregatedStatus ?? []).some(({ clusterName }) => clusterName === member);

/** The bytes of a message without its subscription, which the stream adds in front. */
function frame(message: FleetMessage): Uint8Array {
  const json = Buffer.from(JSON.stringify(message));
  return json.length < COMPRESS_FROM_BYTES
    ? Buffer.concat([Buffer.from([FRAME.plain]), json])
    : Buffer.concat([Buffer.from([FRAME.gzip]), gzipSync(json, { level: 6 })]);
}

/** Lists and watches only one namespace. */
const within = (client: Client, namespace: string): Client => ({
  ...client,
  list: (kind, options) => client.list(kind, { ...options, namespace }),
  watch: (kind, options) => client.watch(kind, { ...options, namespace }),
});
