/**
 * What an autoscaler on a member waits for before it leaves: the workload that it scales there. Without its autoscaler a
 * workload that is still there would get the replicas of its share.
 */
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { clusterNameOf, executionNamespace, workName } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { ObjectKey } from "@flotilla/client";
import { manifestsOf } from "../members/member-objects.ts";

type Binding = DeepReadonly<ResourceBinding>;

/** `leaving`: it is being evicted too. `staying`: it is not, or not yet. */
export type ScaleTarget = "leaving" | "staying";

export interface ScaleTargetViews {
  worksOf(binding: Binding): readonly DeepReadonly<Work>[];
  getWork(key: Omit<ObjectKey, "cluster">): DeepReadonly<Work> | undefined;
  /** The binding that a Work was made for. */
  bindingOf(work: DeepReadonly<Work>): Binding | undefined;
}

/** The scale targets that are still on the members that an autoscaler leaves, by member; none for other kinds. */
export function scaleTargetsOf(binding: Binding, views: ScaleTargetViews): ReadonlyMap<string, ScaleTarget> {
  const { spec } = binding;
  if (spec.resource.kind !== "HorizontalPodAutoscaler") return new Map();
  const leaves = new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  return new Map(
    views.worksOf(binding).flatMap((work): [string, ScaleTarget][] => {
      const cluster = clusterNameOf(work.metadata.namespace ?? "") ?? "";
      const target = leaves.has(cluster) ? targetIn(work, spec.resource.namespace ?? "") : undefined;
      const scaled = target && views.getWork({ namespace: executionNamespace(cluster), name: target });
      return scaled ? [[cluster, isLeaving(scaled, cluster, views) ? "leaving" : "staying"]] : [];
    }),
  );
}

function isLeaving(work: DeepReadonly<Work>, cluster: string, { bindingOf }: ScaleTargetViews): boolean {
  const tasks = bindingOf(work)?.spec.gracefulEvictionTasks ?? [];
  return work.metadata.deletionTimestamp !== undefined || tasks.some(({ fromCluster }) => fromCluster === cluster);
}

/** The name of the target's Work. */
function targetIn(work: DeepReadonly<Work>, namespace: string): string | undefined {
  const { spec } = (manifestsOf(work)[0] ?? {}) as { spec?: unknown };
  const target = isObject(spec) ? spec["scaleTargetRef"] : undefined;
  if (!isObject(target)) return undefined;
  const { kind, name } = target;
  return typeof kind === "string" && typeof name === "string" ? workName(kind, name, namespace) : undefined;
}
