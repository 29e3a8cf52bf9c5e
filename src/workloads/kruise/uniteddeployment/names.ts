/** Names that UnitedDeployments are known by, as upstream spells them. */
import type { UnitedDeployment } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";

export type ReadonlyUnitedDeployment = DeepReadonly<UnitedDeployment>;
type Strategy = NonNullable<NonNullable<ReadonlyUnitedDeployment["spec"]["topology"]>["scheduleStrategy"]>;

/** On workloads and pods: which subset they are of. */
export const SUBSET_LABEL = "apps.kruise.io/subset-name";
/** On workloads and pods: which revision of the UnitedDeployment they were made from. */
export const DEPLOYMENT_REVISION_LABEL = "apps.kruise.io/controller-revision-hash";
/** On workloads: the patch that was applied to their pod template. */
export const PATCH_ANNOTATION = "apps.kruise.io/subset-patch";
/** On pods of a deployment that reserves: whether others run in their place until they can. */
export const RESERVED_LABEL = "apps.kruise.io/united-deployment-reserved-pod";

export const subsetsOf = ({ spec }: ReadonlyUnitedDeployment) => spec.topology?.subsets ?? [];
export type Subset = ReturnType<typeof subsetsOf>[number];

/** Specs that informers hold are shared and never change, and every subset is looked for. */
const named = new WeakMap<object, ReadonlyMap<string, Subset>>();

export function subsetNamed(deployment: ReadonlyUnitedDeployment, name: string): Subset | undefined {
  const subsets = subsetsOf(deployment);
  let byName = named.get(subsets);
  if (!byName) named.set(subsets, (byName = new Map(subsets.map((subset) => [subset.name, subset]))));
  return byName.get(name);
}

const strategyOf = ({ spec }: ReadonlyUnitedDeployment): Strategy => spec.topology?.scheduleStrategy ?? {};

export const isAdaptive = (deployment: ReadonlyUnitedDeployment): boolean => strategyOf(deployment).type === "Adaptive";
/** Pods that find no node stay, and others run elsewhere in their place until they do. */
export const reserves = (deployment: ReadonlyUnitedDeployment): boolean =>
  isAdaptive(deployment) && strategyOf(deployment).adaptive?.reserveUnschedulablePods === true;

/** How long a pod may look for a node, and how long a subset in which one found none is left alone. */
export const patienceMs = (deployment: ReadonlyUnitedDeployment): number =>
  (strategyOf(deployment).adaptive?.rescheduleCriticalSeconds ?? 30) * 1000;
export const avoidanceMs = (deployment: ReadonlyUnitedDeployment): number =>
  (strategyOf(deployment).adaptive?.unschedulableDuration ?? 300) * 1000;
