/** Names of UnitedDeployments, as in upstream. */
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import type { DeepReadonly } from "@flotilla/base";

export type ReadonlyUnitedDeployment = DeepReadonly<UnitedDeployment>;
type Strategy = NonNullable<NonNullable<ReadonlyUnitedDeployment["spec"]["topology"]>["scheduleStrategy"]>;

/** On workloads and pods: their subset. */
export const SUBSET_LABEL = "apps.kruise.io/subset-name";
/** On workloads and pods: the revision of the UnitedDeployment that they were created from. */
export const DEPLOYMENT_REVISION_LABEL = "apps.kruise.io/controller-revision-hash";
/** On workloads: the patch that was applied to their pod template. */
export const PATCH_ANNOTATION = "apps.kruise.io/subset-patch";
/**
 * On pods of a deployment with the reservation strategy: whether other pods run in their place until they are ready.
 */
export const RESERVED_LABEL = "apps.kruise.io/united-deployment-reserved-pod";

export const subsetsOf = ({ spec }: ReadonlyUnitedDeployment) => spec.topology?.subsets ?? [];
export type Subset = ReturnType<typeof subsetsOf>[number];

/** Specs in informers are shared and immutable, and subsets are looked up often. */
const named = new WeakMap<object, ReadonlyMap<string, Subset>>();

export function subsetNamed(deployment: ReadonlyUnitedDeployment, name: string): Subset | undefined {
  const subsets = subsetsOf(deployment);
  let byName = named.get(subsets);
  if (!byName) named.set(subsets, (byName = new Map(subsets.map((subset) => [subset.name, subset]))));
  return byName.get(name);
}

const strategyOf = ({ spec }: ReadonlyUnitedDeployment): Strategy => spec.topology?.scheduleStrategy ?? {};

export const isAdaptive = (deployment: ReadonlyUnitedDeployment): boolean => strategyOf(deployment).type === "Adaptive";
/** Pods that find no node are kept, and others run elsewhere in their place until they do. */
export const reserves = (deployment: ReadonlyUnitedDeployment): boolean =>
  isAdaptive(deployment) && strategyOf(deployment).adaptive?.reserveUnschedulablePods === true;

/** How long a pod may be pending, and how long a subset with such a pod is avoided. */
export const schedulingTimeoutMs = (deployment: ReadonlyUnitedDeployment): number =>
  (strategyOf(deployment).adaptive?.rescheduleCriticalSeconds ?? 30) * 1000;
export const avoidanceMs = (deployment: ReadonlyUnitedDeployment): number =>
  (strategyOf(deployment).adaptive?.unschedulableDuration ?? 300) * 1000;
