/** The four workload kinds of a subset, and their differences. */
import { AdvancedStatefulSet } from "../statefulset/statefulset-kind.ts";
import { CloneSet } from "../cloneset/cloneset-kind.ts";
import { Deployment, StatefulSet } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";

/** The common fields of the four. */
interface SubsetWorkload extends KubernetesObject {
  spec: SubsetWorkloadSpec;
  status?: { replicas?: number; readyReplicas?: number };
}

interface Rolling {
  type?: string;
  rollingUpdate?: { partition?: number | string; maxUnavailable?: number | string };
}

export interface SubsetWorkloadSpec {
  replicas?: number;
  selector?: LabelSelector;
  template?: PodTemplateSpec;
  /** All kinds except Deployment. */
  updateStrategy?: Rolling;
  /** Only Deployment. */
  strategy?: Rolling;
}

export type ReadonlyWorkload = DeepReadonly<SubsetWorkload>;
type Spec = DeepReadonly<SubsetWorkloadSpec>;

export interface SubsetKind {
  /** The name in events. */
  type: "StatefulSet" | "AdvancedStatefulSet" | "CloneSet" | "Deployment";
  kind: Kind<SubsetWorkload>;
  template: "statefulSetTemplate" | "advancedStatefulSetTemplate" | "cloneSetTemplate" | "deploymentTemplate";
  strategy: "updateStrategy" | "strategy";
  /** Whether pods can be kept at their old revision, which requires that the workload updates them itself. */
  hasPartition(spec: Spec): boolean;
  /** The strategy type if the template sets none; unset leaves it to the workload's own defaults. */
  defaultType?: "RollingUpdate";
}

const asWorkload = (kind: unknown): Kind<SubsetWorkload> => kind as Kind<SubsetWorkload>;
const isRolling = ({ updateStrategy }: Spec): boolean =>
  (updateStrategy?.type ?? "") === "" || updateStrategy?.type === "RollingUpdate";

/** In upstream's order of lookup. */
export const SUBSET_KINDS: readonly SubsetKind[] = [
  {
    type: "StatefulSet",
    kind: asWorkload(StatefulSet),
    template: "statefulSetTemplate",
    strategy: "updateStrategy",
    hasPartition: isRolling,
    defaultType: "RollingUpdate",
  },
  {
    type: "AdvancedStatefulSet",
    kind: asWorkload(AdvancedStatefulSet),
    template: "advancedStatefulSetTemplate",
    strategy: "updateStrategy",
    hasPartition: isRolling,
  },
  {
    type: "CloneSet",
    kind: asWorkload(CloneSet),
    template: "cloneSetTemplate",
    strategy: "updateStrategy",
    hasPartition: isRolling,
  },
  {
    type: "Deployment",
    kind: asWorkload(Deployment),
    template: "deploymentTemplate",
    strategy: "strategy",
    hasPartition: () => false,
  },
];

export interface SubsetTemplate {
  kind: SubsetKind;
  metadata: DeepReadonly<Partial<ObjectMeta>>;
  spec: Spec;
}

/** Undefined if there is no template, which the webhook rejects. */
export function templateOf({ spec }: ReadonlyUnitedDeployment): SubsetTemplate | undefined {
  for (const kind of SUBSET_KINDS) {
    const template = spec.template?.[kind.template];
    if (template) return { kind, metadata: template.metadata ?? {}, spec: template.spec ?? {} };
  }
  return undefined;
}

/** The partition of a workload, 0 if it has none; undefined if a partition has no effect. */
export function partitionOf(kind: SubsetKind, { spec }: ReadonlyWorkload): number | undefined {
  if (!kind.hasPartition(spec)) return undefined;
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  return typeof partition === "number" ? partition : undefined;
}

export function maxUnavailableOf(kind: SubsetKind, { spec }: ReadonlyWorkload): number | string | undefined {
  return spec[kind.strategy]?.rollingUpdate?.maxUnavailable;
}

export function withMaxUnavailable(
  kind: SubsetKind,
  workload: ReadonlyWorkload,
  maxUnavailable: number,
): ReadonlyWorkload {
  const strategy = workload.spec[kind.strategy];
  return {
    ...workload,
    spec: {
      ...workload.spec,
      [kind.strategy]: { ...strategy, rollingUpdate: { ...strategy?.rollingUpdate, maxUnavailable } },
    },
  };
}
