/** Defaults and validation of a placement: which members, how they are spread, and the replicas of each. */
import type { DeepReadonly } from "@flotilla/base";
import { change, changeItems, checkText, field, fill, labelKeyProblems } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  ClusterAffinity,
  ClusterAffinityTerm,
  Placement,
  ReplicaSchedulingStrategy,
  SpreadConstraint,
  WorkloadAffinity,
} from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import { affinityWarnings, checkClusterAffinity } from "../selection/cluster-affinity-rules.ts";
import { ignoredSpread } from "./spread-use.ts";

type Read<T> = DeepReadonly<T>;

export function completePlacement(placement: Read<Placement>): Read<Placement> {
  const spread = change(placement, "spreadConstraints", (constraints) =>
    changeItems<SpreadConstraint>(constraints, completeConstraint),
  );
  return change(spread, "replicaScheduling", completeScheduling);
}

function completeConstraint(constraint: Read<SpreadConstraint>): Read<SpreadConstraint> {
  const grouped =
    constraint.spreadByField || constraint.spreadByLabel
      ? constraint
      : { ...constraint, spreadByField: "cluster" as const };
  return grouped.minGroups ? grouped : { ...grouped, minGroups: 1 };
}

/** The schema defaults a strategy without a type to Divided. */
function completeScheduling(strategy: Read<ReplicaSchedulingStrategy>): Read<ReplicaSchedulingStrategy> {
  const { replicaSchedulingType = "Divided" } = strategy;
  return replicaSchedulingType === "Divided" ? fill(strategy, { replicaDivisionPreference: "Weighted" }) : strategy;
}

export function checkPlacement(at: string, placement: Read<Placement>): FieldError[] {
  const {
    clusterAffinity,
    clusterAffinities = [],
    spreadConstraints = [],
    workloadAffinity,
    clusterTolerations = [],
    replicaScheduling,
  } = placement;
  const errors: FieldError[] = [];
  if (clusterAffinity && placement.clusterAffinities)
    errors.push(field.invalid(at, placement, "clusterAffinities cannot co-exist with clusterAffinity"));
  const mayOverflow = dividesByCapacity(replicaScheduling);
  for (const [index, { overflowAffinities }] of clusterAffinities.entries()) {
    if (!overflowAffinities || mayOverflow) continue;
    errors.push(
      field.invalid(
        `${at}.clusterAffinities[${index}].overflowAffinities`,
        overflowAffinities,
        "overflowAffinities can only be used together with dynamic weight or aggregated scheduling",
      ),
    );
  }
  return [
    ...errors,
    ...checkClusterAffinity(`${at}.clusterAffinity`, clusterAffinity),
    ...checkTerms(`${at}.clusterAffinities`, clusterAffinities),
    ...checkConstraints(`${at}.spreadConstraints`, spreadConstraints),
    ...(workloadAffinity ? checkWorkloadAffinity(`${at}.workloadAffinity`, workloadAffinity) : []),
    ...checkTolerations(`${at}.clusterTolerations`, clusterTolerations),
  ];
}

/** Replicas can overflow to further members only when the division considers capacity. */
function dividesByCapacity(strategy: Read<ReplicaSchedulingStrategy> | undefined): boolean {
  if (strategy?.replicaSchedulingType !== "Divided") return false;
  return strategy.replicaDivisionPreference === "Aggregated" || Boolean(strategy.weightPreference?.dynamicWeight);
}

function checkTerms(at: string, terms: readonly Read<ClusterAffinityTerm>[]): FieldError[] {
  const names = new Set<string>();
  let isReported = false;
  return terms.flatMap((term, index) => {
    const { affinityName } = term;
    const errors = checkText(`${at}[${index}]`, affinityName, labelKeyProblems);
    // Reported once: the error prints all terms.
    if (names.has(affinityName) && !isReported) {
      errors.push(field.invalid(at, terms, "each affinity term in a policy must have a unique name"));
      isReported = true;
    }
    names.add(affinityName);
    return [
      ...errors,
      ...checkClusterAffinity(`${at}[${index}]`, term),
      ...checkOverflow(`${at}[${index}].overflowAffinities`, term),
    ];
  });
}

function checkOverflow(at: string, term: Read<ClusterAffinityTerm>): FieldError[] {
  const { affinityName: primary, overflowAffinities } = term;
  if (!overflowAffinities) return [];
  const errors: FieldError[] = [];
  if (isEmptyAffinity(term))
    errors.push(
      field.invalid(
        at,
        overflowAffinities,
        "overflowAffinities can only be used together with the inline ClusterAffinity",
      ),
    );
  const names = new Set([primary]);
  for (const [index, overflow] of overflowAffinities.entries()) {
    const { affinityName } = overflow;
    const path = `${at}[${index}].affinityName`;
    errors.push(...checkText(path, affinityName, labelKeyProblems));
    if (names.has(affinityName))
      errors.push(
        field.invalid(
          path,
          affinityName,
          "overflow affinity name must be unique and must not duplicate the primary group's affinityName",
        ),
      );
    names.add(affinityName);
    errors.push(...checkClusterAffinity(`${at}[${index}]`, overflow));
  }
  return errors;
}

function isEmptyAffinity({
  labelSelector,
  fieldSelector,
  clusterNames = [],
  exclude = [],
}: Read<ClusterAffinity>): boolean {
  return !labelSelector && !fieldSelector && clusterNames.length + exclude.length === 0;
}

function checkConstraints(at: string, constraints: readonly Read<SpreadConstraint>[]): FieldError[] {
  const errors: FieldError[] = [];
  /** How often each field occurred. */
  const met = new Map<string, number>();
  for (const [index, constraint] of constraints.entries()) {
    const { spreadByField, spreadByLabel, minGroups = 0, maxGroups = 0 } = constraint;
    const refuse = (why: string): void => void errors.push(field.invalid(`${at}[${index}]`, constraint, why));
    if (spreadByField && spreadByLabel) refuse("spreadByLabel should not co-exist with spreadByField");
    if (minGroups < 0) refuse("minGroups lower than 0 is not allowed");
    if (maxGroups < 0) refuse("maxGroups lower than 0 is not allowed");
    if (maxGroups > 0 && maxGroups < minGroups) refuse("maxGroups lower than minGroups is not allowed");
    if (!spreadByField) continue;
    const times = (met.get(spreadByField) ?? 0) + 1;
    met.set(spreadByField, times);
    // A third occurrence adds no error.
    if (times === 2)
      errors.push(field.invalid(at, constraints, `multiple ${spreadByField} spread constraints are not allowed`));
  }
  if (met.size > 0 && !met.has("cluster")) {
    errors.push(
      field.invalid(
        at,
        constraints,
        "the cluster spread constraint must be enabled in one of the constraints in case of SpreadByField is enabled",
      ),
    );
  }
  return errors;
}

function checkWorkloadAffinity(at: string, workloadAffinity: Read<WorkloadAffinity>): FieldError[] {
  const { affinity, antiAffinity } = workloadAffinity;
  return [
    ...(affinity ? checkText(`${at}.affinity.groupByLabelKey`, affinity.groupByLabelKey, labelKeyProblems) : []),
    ...(antiAffinity
      ? checkText(`${at}.antiAffinity.groupByLabelKey`, antiAffinity.groupByLabelKey, labelKeyProblems)
      : []),
    ...(affinity && affinity.groupByLabelKey === antiAffinity?.groupByLabelKey
      ? [field.invalid(at, workloadAffinity, "affinity and antiAffinity must not use the same groupByLabelKey")]
      : []),
  ];
}

/** Numeric comparison exists for nodes only, not for clusters. */
function checkTolerations(at: string, tolerations: readonly Read<Toleration>[]): FieldError[] {
  return tolerations.flatMap(({ operator }, index) =>
    operator === "Lt" || operator === "Gt"
      ? [field.notSupported(`${at}[${index}].operator`, operator, ["", "Exists", "Equal"])]
      : [],
  );
}

/** Warnings for valid placements that unintentionally exclude members or are ignored. */
export function placementWarnings(at: string, placement: Read<Placement>): string[] {
  const { clusterAffinity, clusterAffinities = [], replicaScheduling } = placement;
  const weights = replicaScheduling?.weightPreference?.staticWeightList ?? [];
  const ignored = ignoredSpread(placement);
  return [
    ...affinityWarnings(`${at}.clusterAffinity`, clusterAffinity),
    ...clusterAffinities.flatMap((term, index) => [
      ...affinityWarnings(`${at}.clusterAffinities[${index}]`, term),
      ...(term.overflowAffinities ?? []).flatMap((overflow, place) =>
        affinityWarnings(`${at}.clusterAffinities[${index}].overflowAffinities[${place}]`, overflow),
      ),
    ]),
    ...(ignored === undefined ? [] : [`${at}.spreadConstraints: ${ignored}`]),
    ...weights.flatMap(({ targetCluster }, index) => {
      const path = `${at}.replicaScheduling.weightPreference.staticWeightList[${index}].targetCluster`;
      return [
        ...checkClusterAffinity(path, targetCluster).map(({ message }) => `${path}: ${message}; no cluster matches`),
        ...affinityWarnings(path, targetCluster),
      ];
    }),
  ];
}
