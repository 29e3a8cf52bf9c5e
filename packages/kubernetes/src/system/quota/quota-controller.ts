/**
 * Maintains the status of every ResourceQuota: the limits in effect and the usage. The API server charges a quota on
 * creation; this controller recounts when a quota changes and when a counted object is deleted.
 *
 * Reads: ResourceQuota; objects of the kinds in the quotas.
 * Writes: the status of ResourceQuota; nothing else.
 *
 * Kinds are watched once the first quota names them, so clusters without quotas cost nothing. Custom resources are
 * recounted every few seconds instead: their CRDs come and go, and differ between clusters.
 */
import { ResourceQuota } from "../../resourcequota/resourcequota-kind.ts";
import { addAmounts, type Amounts } from "../../quota/amounts.ts";
import { quotaEvaluatorOf } from "../../quota/evaluator.ts";
import { type Pod } from "../../pod/pod-kind.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isConflict, isNotFound } from "@flotilla/apimachinery";
import {
  defineKeyedController,
  done,
  idOfKey,
  keyOf,
  watch,
  type Controller,
  type Lane,
  type Result,
  type Source,
} from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource, keysOf } from "../watch-source.ts";
import { countUsage, kindOf } from "./count-usage.ts";
import { countedResources, planStatus, type CountedResource } from "./plan-status.ts";

/** A charged object is stored within milliseconds; a count that ran in between is repeated. */
const RECOUNT_DELAY_MS = 1_000;
const CUSTOM_KINDS_MS = 10_000;
const RESYNC_MS = 300_000;

export function createQuotaController(
  deps: Pick<SystemDependencies, "client" | "informers" | "clock" | "log" | "home">,
): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const watched = createWatchedKinds(deps);

  async function count(
    quota: DeepReadonly<ResourceQuota>,
    { cluster, namespace = "" }: ObjectKey,
    signal: AbortSignal,
  ): Promise<Amounts> {
    let usage: Amounts = new Map();
    for (const counted of countedResources(quota)) {
      const amounts = await countUsage(quota, counted, { client, cluster, namespace, nowMs: clock.now(), signal });
      if (amounts) usage = addAmounts(usage, amounts);
    }
    return usage;
  }

  return defineKeyedController<ObjectKey>({
    name: "resource-quotas",
    writes: [ResourceQuota],
    sources: [
      // This controller and the server both write the status; only a change of the spec, or a status with other limits,
      // needs a reconcile.
      watch(ResourceQuota, ({ cluster, object, old, deleted }) =>
        deleted || (old && equalJson(object.spec, old.spec) && equalJson(object.status?.hard, object.spec?.hard))
          ? []
          : [keyOf(cluster, object)],
      ),
      { source: watched },
    ],
    idOf: idOfKey,

    async reconcile(key, { log, signal }): Promise<Result> {
      const quota = informers.of(ResourceQuota).get(key);
      if (!quota || quota.metadata.deletionTimestamp !== undefined) return done;
      for (const counted of countedResources(quota)) watched.add(counted);

      const { status, shrinks } = planStatus(quota, await count(quota, key, signal));
      try {
        if (status) {
          await client.updateStatus(ResourceQuota, key.cluster, { ...quota, status }, { signal });
          log.debug("quota counted", { ...key });
        }
      } catch (error) {
        if (isNotFound(error)) return done;
        // The server charged the quota in the meantime: the next reconcile recounts.
        if (!isConflict(error)) throw error;
        return { requeueAfterMs: RECOUNT_DELAY_MS };
      }
      if (shrinks) return { requeueAfterMs: RECOUNT_DELAY_MS };
      return {
        requeueAfterMs: countedResources(quota).every((counted) => kindOf(counted)) ? RESYNC_MS : CUSTOM_KINDS_MS,
      };
    },
  });
}

interface WatchedKinds extends Source<ObjectKey> {
  /** Starts watching the objects of a resource; custom resources are skipped. */
  add(counted: CountedResource): void;
}

function createWatchedKinds(
  deps: Pick<SystemDependencies, "client" | "clock" | "log" | "home" | "informers">,
): WatchedKinds {
  const { client, clock, log, home, informers } = deps;
  const sources = new Map<string, Source<ObjectKey>>();
  let started: { enqueue: (key: ObjectKey, lane?: Lane) => void; signal: AbortSignal } | undefined;

  const quotasOf = (
    { group, resource }: CountedResource,
    cluster: string,
    namespace: string | undefined,
  ): ObjectKey[] => {
    const evaluator = quotaEvaluatorOf(group, resource);
    if (namespace === undefined || !evaluator) return [];
    return informers
      .of(ResourceQuota)
      .list({ cluster, namespace })
      .filter(({ spec }) => Object.keys(spec?.hard ?? {}).some((name) => evaluator.counts(name)))
      .map((quota) => keyOf(cluster, quota));
  };

  return {
    add(counted) {
      const { group, resource } = counted;
      const kind = kindOf(counted);
      const id = `${group}/${resource}`;
      if (!kind || sources.has(id) || !started || started.signal.aborted) return;
      const source = createWatchSource({
        client,
        clock,
        log,
        kind,
        startAfter: async (signal) => (await client.list(kind, { cluster: home, limit: 1, signal })).resourceVersion,
        map: ({ cluster, object, deleted }) =>
          deleted || mayShrink(counted, object as unknown as DeepReadonly<Pod>)
            ? quotasOf(counted, cluster, object.metadata.namespace)
            : [],
        afterGap: () => keysOf(informers.of(ResourceQuota)),
      });
      sources.set(id, source);
      source.start(started.enqueue, started.signal);
    },
    start: (enqueue, signal) => void (started = { enqueue, signal }),
    isQuiet: () => sources.values().every((source) => source.isQuiet()),
  };
}

/** Whether an existing object may use less than before: finished or changed pods, changed services and claims. */
function mayShrink({ group, resource }: CountedResource, object: DeepReadonly<Pod>): boolean {
  if (group !== "") return false;
  if (resource === "pods")
    return object.status?.phase === "Succeeded" || object.status?.phase === "Failed" || hasChangedSpec(object);
  return resource === "services" || resource === "persistentvolumeclaims";
}

/** A resized pod uses another amount, and one that gets a deadline moves to quotas of another scope. */
function hasChangedSpec({ metadata, spec }: DeepReadonly<Pod>): boolean {
  return (metadata.generation ?? 1) > 1 || spec?.activeDeadlineSeconds !== undefined;
}
