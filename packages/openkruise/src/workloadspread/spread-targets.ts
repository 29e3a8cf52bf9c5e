/** The workloads whose pods a WorkloadSpread divides, and what it reads of them. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { Deployment, Job, ReplicaSet, StatefulSet } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import type { WorkloadSpread } from "./workloadspread-kind.ts";

export type ReadonlySpread = DeepReadonly<WorkloadSpread>;
export type Subset = ReadonlySpread["spec"]["subsets"][number];
export type Status = NonNullable<ReadonlySpread["status"]>;
export type SubsetStatus = NonNullable<Status["subsetStatuses"]>[number];

/** The fields of all these kinds that matter here. */
export interface Target extends KubernetesObject {
  spec?: { replicas?: number; parallelism?: number; template?: Json; volumeClaimTemplates?: Json[] };
}

type Reference = Readonly<Pick<OwnerReference, "apiVersion" | "kind" | "name">>;

const asTarget = (kind: unknown): Kind<Target> => kind as Kind<Target>;

export const TARGET_KINDS: readonly Kind<Target>[] = [
  CloneSet,
  Deployment,
  ReplicaSet,
  Job,
  StatefulSet,
  AdvancedStatefulSet,
].map(asTarget);

export const targetKindOf = ({ apiVersion, kind }: Pick<Reference, "apiVersion" | "kind">): Kind<Target> | undefined =>
  TARGET_KINDS.find((one) => one.kind === kind && one.group === parseApiVersion(apiVersion).group);

export const isSameTarget = (a: Reference, b: Reference): boolean =>
  a.kind === b.kind && a.name === b.name && parseApiVersion(a.apiVersion).group === parseApiVersion(b.apiVersion).group;

/** Pods of a StatefulSet are divided by their ordinals. */
export const isOrdinal = ({ spec }: ReadonlySpread): boolean => spec.targetRef.kind === "StatefulSet";

/** The desired pods that the percentages of the subsets refer to. */
export function replicasOf({ spec }: ReadonlySpread, target: DeepReadonly<Target> | undefined): number {
  if (!target) return 0;
  const paths = spec.targetFilter?.replicasPathList ?? [];
  if (paths.length > 0) return paths.reduce((sum, path) => sum + numberAt(target as unknown as Json, path), 0);
  const { replicas, parallelism } = target.spec ?? {};
  return (target.kind === Job.kind ? parallelism : replicas) ?? 1;
}

/** A path that leads nowhere adds nothing. */
function numberAt(object: Json, path: string): number {
  let value: Json | undefined = object;
  for (const key of path.split(".")) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return 0;
  }
  return typeof value === "number" ? value : 0;
}

export const VERSION_IGNORED = "versionIgnored";
const TEMPLATE_HASH = "pod-template-hash";
const REVISION_HASH = "controller-revision-hash";

/** Pods of a Deployment are counted by revision, because both revisions run during a rollout; others are not. */
export function versionOfPod({ metadata }: ReadonlyPod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.kind;
  if (owner !== ReplicaSet.kind && owner !== Deployment.kind) return VERSION_IGNORED;
  const { [TEMPLATE_HASH]: template, [REVISION_HASH]: revision } = metadata.labels ?? {};
  return template ?? revision?.slice(revision.lastIndexOf("-") + 1) ?? VERSION_IGNORED;
}

export const versionOfReplicaSet = ({ metadata }: DeepReadonly<KubernetesObject>): string =>
  metadata.labels?.[TEMPLATE_HASH] ?? VERSION_IGNORED;
