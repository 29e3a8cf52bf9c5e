/**
 * WorkloadSpread: counts the pods of each subset, adopts pods that are older than it, orders them for scale-in, and
 * moves pods that find no node.
 *
 * Reads: WorkloadSpread, its target, the ReplicaSets of a Deployment, the target's pods, Node.
 * Writes: WorkloadSpread status; the metadata of its pods; deletes pods that wait for a node for too long.
 * Before: the webhook beside this file places new pods and records them in the status.
 */
import { controllerOf } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import {
  isActive,
  Node,
  ownedBy,
  Pod,
  podCondition,
  ReplicaSet,
  writeAll,
  DEPLOYMENT_REVISION_ANNOTATION,
} from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import type { KruiseDependencies } from "../api/kruise-definition.ts";
import { matchOf } from "./inject-subset.ts";
import { selects } from "./spread-admission.ts";
import { planWorkloadSpread } from "./plan-workloadspread.ts";
import type { SpreadScene } from "./plan-workloadspread.ts";
import {
  replicasOf,
  TARGET_KINDS,
  targetKindOf,
  versionOfPod,
  versionOfReplicaSet,
  VERSION_IGNORED,
} from "./spread-targets.ts";
import type { ReadonlySpread, Target } from "./spread-targets.ts";
import { WorkloadSpread } from "./workloadspread-kind.ts";

const BY_TARGET = "workload-spread-target";

export function createWorkloadSpreadController(deps: KruiseDependencies): Controller<ObjectKey>[] {
  if (!(deps.gates ?? DEFAULT_GATES).isOn("WorkloadSpread")) return [];
  const { client, informers, clock } = deps;
  const spreads = informers.of(WorkloadSpread);
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const replicaSets = informers.of(ReplicaSet);
  const events = deps.events?.("workloadspread-controller");
  spreads.addIndex(BY_TARGET, ({ metadata, spec }, cluster) => {
    const kind = spec.targetRef && targetKindOf(spec.targetRef);
    return kind ? [targetId(cluster, metadata.namespace, kind, spec.targetRef.name)] : [];
  });

  const spreadsOf = (cluster: string, namespace: string | undefined, kind: Kind<Target>, name: string): ObjectKey[] =>
    spreads.by(BY_TARGET, targetId(cluster, namespace, kind, name)).map((spread) => keyOf(cluster, spread));

  /** Also through the Deployment of a ReplicaSet. */
  function spreadsOfOwned(
    cluster: string,
    namespace: string | undefined,
    owner: ReturnType<typeof controllerOf>,
  ): ObjectKey[] {
    const kind = owner && targetKindOf(owner);
    if (!owner || !kind) return [];
    const own = spreadsOf(cluster, namespace, kind, owner.name);
    if (own.length > 0 || owner.kind !== ReplicaSet.kind) return own;
    const set = replicaSets.get({ cluster, namespace, name: owner.name });
    return set ? spreadsOfOwned(cluster, namespace, controllerOf(set)) : [];
  }

  /** As upstream, pods that found no room change nothing: they join a subset when their workload changes. */
  function spreadsOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const match = matchOf(object);
    const counts = match && (deleted || !old || summaryOf(old) !== summaryOf(object));
    return counts ? [{ cluster, name: match.name, namespace: object.metadata.namespace || undefined }] : [];
  }

  const controller = defineController({
    name: "workloadspread",
    for: WorkloadSpread,
    watches: [
      watch(Pod, spreadsOfPod),
      ...TARGET_KINDS.map((kind) =>
        watch(kind, ({ cluster, object, old, deleted }) =>
          deleted || !old || !equalJson(old.spec ?? {}, object.spec ?? {}) || revisionOf(old) !== revisionOf(object)
            ? [
                ...spreadsOf(cluster, object.metadata.namespace, kind, object.metadata.name),
                ...spreadsOfOwned(cluster, object.metadata.namespace, controllerOf(object)),
              ]
            : [],
        ),
      ),
    ],
    writes: [WorkloadSpread, Pod],

    async reconcile(spread, { key, signal }) {
      if (spread.metadata.deletionTimestamp || !spread.spec.targetRef) return done;
      const plan = planWorkloadSpread(spread, sceneOf(spread, key), clock.now());
      await writeAll("pod metadata", [...plan.patches], async ([pod, patch]) => {
        await unlessChanged(client.patch(Pod, keyOf(key.cluster, pod), patch, { type: "strategic", signal }));
      });
      for (const event of plan.events) events?.record(key.cluster, spread, event);
      if (plan.status && !equalJson(plan.status, spread.status ?? {}))
        await unlessChanged(
          client.updateStatus(WorkloadSpread, key.cluster, { ...spread, status: plan.status }, { signal }),
        );
      for (const [subset, stuck] of plan.unschedulable) await removeStuck(spread, key, subset, stuck, signal);
      // One millisecond more: exactly at its end a time is not over.
      return plan.waitsMs.length > 0 ? { requeueAfterMs: Math.min(...plan.waitsMs) + 1 } : done;
    },
  });
  return [controller];

  function sceneOf(spread: ReadonlySpread, { cluster, namespace }: ObjectKey): SpreadScene {
    const { targetRef } = spread.spec;
    const kind = targetKindOf(targetRef);
    const target = kind && informers.of(kind).get({ cluster, namespace, name: targetRef.name });
    const sets = target?.kind === "Deployment" ? ownedBy(replicaSets, cluster, target.metadata.uid) : [];
    const owners = target?.kind === "Deployment" ? sets : target ? [target] : [];
    return {
      pods: owners
        .flatMap(({ metadata }) => ownedBy(pods, cluster, metadata.uid))
        // A pod that was created a moment ago has no node to be judged by.
        .filter((pod) => selects(spread, pod) && (pod.spec.nodeName || matchOf(pod)))
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
      replicas: replicasOf(spread, target),
      latestVersion: latestVersionOf(target, sets),
      node: (name) => nodes.get({ cluster, name }),
    };
  }

  async function removeStuck(
    spread: ReadonlySpread,
    { cluster }: ObjectKey,
    subset: string,
    stuck: readonly ReadonlyPod[],
    signal: AbortSignal,
  ): Promise<void> {
    await writeAll("pod deletions", stuck, async (pod) => {
      const { name, namespace = "", uid } = pod.metadata;
      try {
        await unlessChanged(client.delete(Pod, keyOf(cluster, pod), { preconditions: { uid }, signal }));
      } catch (error) {
        events?.record(cluster, spread, {
          type: "Warning",
          reason: "DeletePodFailed",
          message: `Failed to delete unschedulabe Pod ${namespace}/${name} in Subset ${subset} of WorkloadSpread ${namespace}/${spread.metadata.name}`,
        });
        throw error;
      }
    });
  }
}

/** The parts of a pod that decide about its subset, its cost and the status. */
function summaryOf(pod: ReadonlyPod): string {
  const scheduled = podCondition(pod, "PodScheduled");
  return [
    isActive(pod),
    pod.spec.nodeName,
    pod.status?.phase,
    scheduled?.reason,
    podCondition(pod, "Ready")?.status,
    versionOfPod(pod),
  ].join("/");
}

const revisionOf = ({ metadata }: DeepReadonly<Target>): string | undefined =>
  metadata.annotations?.[DEPLOYMENT_REVISION_ANNOTATION];

/** The revision that a Deployment rolls out; other workloads have one version. */
function latestVersionOf(target: DeepReadonly<Target> | undefined, sets: readonly DeepReadonly<ReplicaSet>[]): string {
  if (target?.kind === ReplicaSet.kind) return versionOfReplicaSet(target);
  if (target?.kind !== "Deployment") return VERSION_IGNORED;
  const newest = sets.find((set) => revisionOf(set as DeepReadonly<Target>) === revisionOf(target));
  return newest ? versionOfReplicaSet(newest) : VERSION_IGNORED;
}

const targetId = (
  cluster: string,
  namespace: string | undefined,
  { group, kind }: Kind<Target>,
  name: string,
): string => `${cluster}/${namespace ?? ""}/${group}/${kind}/${name}`;
