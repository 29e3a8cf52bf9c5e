/**
 * The copies of workloads on members, watched there through the hub's cluster proxy.
 *
 * A binding learns of a change of a member up to 3 s later; a watch of the member's own objects shows it at once. There
 * is one watch per member and kind, so beyond a number of them the rows show what bindings have.
 */
import { HUB } from "@flotilla/apimachinery";
import { defined, isObject } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Log } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { kubernetesWorkloads, ReplicaSet } from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { workloadId } from "@flotilla/web";
import type { ObjectRef } from "@flotilla/web";
import type { LiveCopy } from "./fleet-rows.ts";
import { pause } from "./json-access.ts";
import { planCopyWatches } from "./plan-copy-watches.ts";
import { watchObjects } from "./watched-objects.ts";
import type { WatchedObjects } from "./watched-objects.ts";

export interface MemberCopies {
  /** A workload has this kind; every call is matched by one of `release`. */
  want(kind: WorkloadKind): void;
  release(kind: WorkloadKind): void;
  setMembers(members: readonly { name: string }[]): void;
  find(member: string, ref: ObjectRef): LiveCopy | undefined;
  /** Whether all copies are watched. */
  isLive(): boolean;
  close(): void;
}

export interface MemberCopiesOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** The namespaces that the viewer may see; undefined is all. */
  namespaces: readonly string[] | undefined;
  /** Called with the id of a workload whose copy changed. */
  onChange(id: string): void;
}

type WorkloadKind = Pick<ObjectRef, "apiVersion" | "kind">;

interface Want {
  ref: WorkloadKind;
  /** How many workloads have the kind. */
  count: number;
  /** Unset until the hub has answered how it serves the kind. */
  kind: AnyKind | undefined;
  stop: AbortController;
}

interface CopiesOfKind {
  member: string;
  ref: WorkloadKind;
  kind: AnyKind;
  /** Empty for all. */
  namespace: string;
}

interface Watched {
  objects: WatchedObjects<KubernetesObject & JsonObject>;
  copies: Map<string, LiveCopy>;
  isLive: boolean;
}

/** A kind that a new CustomResourceDefinition or an aggregated server brings is found soon after. */
const RETRY_MS = 2_000;
/** Of one kind on one member; rows beyond it show what bindings have. */
const MAX_COPIES = 20_000;

/** Kinds whose pods run on: their counts change often. Jobs, and kinds without pods, show what bindings have. */
const COUNTS: ReadonlySet<string> = new Set([
  ReplicaSet.kind,
  ...[...kubernetesWorkloads, ...kruiseWorkloads].flatMap(({ kind, workload }) =>
    workload?.runsToCompletion || workload?.isScheduled ? [] : [kind],
  ),
]);

export function createMemberCopies(options: MemberCopiesOptions): MemberCopies {
  const { client, clock, log, namespaces = [""], onChange } = options;
  const kinds = createKindResolver({ client, cluster: HUB });
  /** By API version and kind. */
  const wants = new Map<string, Want>();
  let members: readonly string[] = [];
  /** By member, kind and namespace. */
  const running = new Map<string, Watched>();
  let isComplete = true;

  function update(): void {
    const served = Array.from(wants).flatMap(([id, { kind }]) => (kind ? [id] : []));
    const plan = planCopyWatches(
      members,
      served.flatMap((id) => namespaces.map((namespace) => `${id}/${namespace}`)),
    );
    isComplete = plan.isComplete;
    for (const [key, { objects, copies }] of running)
      if (!plan.watches.has(key)) {
        running.delete(key);
        objects.close();
        for (const id of copies.keys()) onChange(id);
      }
    for (const [key, { member, want }] of plan.watches) {
      const slash = want.lastIndexOf("/");
      const wanted = wants.get(want.slice(0, slash));
      if (!running.has(key) && wanted?.kind)
        running.set(key, watch({ member, ref: wanted.ref, kind: wanted.kind, namespace: want.slice(slash + 1) }));
    }
  }

  function watch({ member, ref, kind, namespace }: CopiesOfKind): Watched {
    const copies = new Map<string, LiveCopy>();
    const objects = watchObjects({
      client,
      clock,
      log,
      kind,
      member,
      select: { namespace: namespace || undefined },
      maxObjects: MAX_COPIES,
      keep: slim,
      onObject({ metadata, spec, status }, deleted) {
        const { namespace: own = "", name } = metadata;
        const id = workloadId({ ...ref, namespace: own, name });
        if (deleted) copies.delete(id);
        else copies.set(id, { spec: isObject(spec) ? spec : undefined, status: isObject(status) ? status : undefined });
        onChange(id);
      },
      onChange() {
        // A member that is away: its cells show what the hub knows.
        const isLive = objects.isLive();
        if (watched.isLive === isLive) return;
        watched.isLive = isLive;
        for (const id of copies.keys()) onChange(id);
      },
    });
    const watched: Watched = { objects, copies, isLive: false };
    return watched;
  }

  async function resolve(want: Want): Promise<void> {
    while (!want.stop.signal.aborted) {
      try {
        want.kind = await kinds.resolve(want.ref);
        if (!want.stop.signal.aborted) update();
        return;
      } catch (error) {
        log.debug("the hub does not serve a kind of workloads", { kind: want.ref.kind, error });
      }
      await pause(clock, RETRY_MS, want.stop.signal);
    }
  }

  return {
    want({ apiVersion, kind }) {
      if (!COUNTS.has(kind)) return;
      const id = `${apiVersion}/${kind}`;
      const known = wants.get(id);
      if (known) {
        known.count += 1;
        return;
      }
      const want: Want = { ref: { apiVersion, kind }, count: 1, kind: undefined, stop: new AbortController() };
      wants.set(id, want);
      void resolve(want);
    },
    release({ apiVersion, kind }) {
      const id = `${apiVersion}/${kind}`;
      const want = wants.get(id);
      if (!want) return;
      want.count -= 1;
      if (want.count > 0) return;
      want.stop.abort();
      wants.delete(id);
      update();
    },
    setMembers(next) {
      const names = next.map(({ name }) => name);
      if (names.join(" ") === members.join(" ")) return;
      members = names;
      update();
    },
    find(member, ref) {
      const key = `${member} ${ref.apiVersion}/${ref.kind}/`;
      const watched = running.get(key) ?? running.get(`${key}${ref.namespace}`);
      return watched?.isLive ? watched.copies.get(workloadId(ref)) : undefined;
    },
    isLive: () => running.size > 0 && isComplete,
    close() {
      for (const { stop } of wants.values()) stop.abort();
      for (const { objects } of running.values()) objects.close();
      running.clear();
    },
  };
}

/** The numbers that rows show. */
function slim(object: DeepReadonly<KubernetesObject & JsonObject>): DeepReadonly<KubernetesObject & JsonObject> {
  const { apiVersion, kind, spec, status } = object;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const counts = isObject(status)
    ? Object.fromEntries(Object.entries(status).filter(([, value]) => typeof value === "number"))
    : undefined;
  const replicas = isObject(spec) ? spec["replicas"] : undefined;
  return {
    apiVersion,
    kind,
    metadata: { name, ...defined({ namespace, uid, resourceVersion }) },
    spec: defined({ replicas }),
    ...defined({ status: counts }),
  };
}
