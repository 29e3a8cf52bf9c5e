/**
 * Changed objects of the hub that change members through decisions which a plan cannot make: by metrics, by time, or by
 * another controller. Pure.
 */
import { FleetDisruptionBudget, FleetRollout } from "@flotilla/flotilla";
import {
  ClusterTaintPolicy,
  CronFederatedHpa,
  FederatedHpa,
  ResourceInterpreterCustomization as Customization,
  WorkloadRebalancer,
} from "@flotilla/karmada";
import {
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWorkReplicaSet,
  OcmPlacement,
} from "@flotilla/ocm";
import { gvkOf, objectTitle } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Applied } from "./apply-input.ts";

type Object = DeepReadonly<KubernetesObject>;

const WORKS = (): string => "the ManifestWorks that follow from it";
const EFFECTS: readonly (readonly [Pick<Kind, "group" | "kind">, (object: Object) => string])[] = [
  [ManifestWorkReplicaSet, WORKS],
  [OcmPlacement, WORKS],
  [ManagedClusterSetBinding, () => "the Placements that select from its set"],
  [ManagedClusterSet, () => "the Placements that select from it"],
  [ManagedCluster, () => "the Placements that select it"],
  [FederatedHpa, (object) => `how it scales ${targetOf(object)}`],
  [CronFederatedHpa, (object) => `when it scales ${targetOf(object)}`],
  [WorkloadRebalancer, () => "the members that its workloads are moved to"],
  [ClusterTaintPolicy, () => "the members that it taints"],
  [FleetRollout, () => "the steps of the release that follow from it"],
  [FleetDisruptionBudget, () => "the steps of releases that wait for it"],
];

export function laterEffects(applied: readonly Applied[]): { unplanned: string[]; notes: string[] } {
  const found = applied
    .filter(({ outcome }) => outcome !== "unchanged")
    .flatMap(({ before, object }) => {
      if (isRetainChanged(before, object))
        return [
          { title: objectTitle(object), effect: "the values that its Retain rule changes in copies that members have" },
        ];
      const effect = EFFECTS.find(([{ group, kind }]) => object.kind === kind && gvkOf(object).group === group)?.[1];
      return effect ? [{ title: objectTitle(object), effect: effect(object) }] : [];
    });
  return {
    unplanned: found.map(({ title }) => title),
    notes: found.map(({ title, effect }) => `${title}: the plan does not cover ${effect}`),
  };
}

/** The rule runs on every copy again, and the copies themselves do not change. */
function isRetainChanged(before: Object | undefined, after: Object): boolean {
  if (after.kind !== Customization.kind || gvkOf(after).group !== Customization.group) return false;
  const ruleIn = (object: Object | undefined): unknown =>
    (object as { spec?: { customizations?: { retention?: unknown } } } | undefined)?.spec?.customizations?.retention;
  return !equalJson(ruleIn(before) ?? null, ruleIn(after) ?? null);
}

function targetOf(object: Object): string {
  const { spec } = object as Object & { spec?: { scaleTargetRef?: { kind?: string; name?: string } } };
  const { kind = "", name = "" } = spec?.scaleTargetRef ?? {};
  return `${kind} ${name}`;
}
