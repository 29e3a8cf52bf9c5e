/**
 * Fields that the API server sets on a new pod: its first status, and selectors that depend on the pod's own labels.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { change, changeItems, compareQuantities } from "@flotilla/apimachinery";
import type { FieldError, Quantity, Review } from "@flotilla/apimachinery";
import type {
  Container,
  Pod,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  PodStatus,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { APP_ARMOR, appArmorProfileOf } from "./pod-annotations.ts";
import { amountOf, isPodLevelResource } from "./pod-resources.ts";
import { checkAppArmor } from "./pod-security.ts";

type Read<T> = DeepReadonly<T>;

export function preparePod(pod: Read<Pod>, { operation, warn }: Review<Pod>): Read<Pod> {
  if (operation !== "CREATE") return pod;
  const { labels = {}, annotations, creationTimestamp } = pod.metadata;
  let spec: Read<PodSpec> = pod.spec;
  if (spec.affinity) {
    spec = change(spec, "affinity", (affinity) =>
      change(
        change(affinity, "podAffinity", (terms) => withOwnLabels(terms, labels)),
        "podAntiAffinity",
        (terms) => withOwnLabels(terms, labels),
      ),
    );
  }
  spec = change(spec, "topologySpreadConstraints", (list) =>
    changeItems<TopologySpreadConstraint>(list, (constraint) =>
      withKeys(constraint, constraint.matchLabelKeys, [], labels),
    ),
  );
  if (annotations && Object.keys(annotations).some((key) => key.startsWith(APP_ARMOR)))
    spec = withAppArmorFields(spec, annotations, warn);
  const status: PodStatus = {
    phase: "Pending",
    conditions: spec.schedulingGates?.length
      ? [
          {
            type: "PodScheduled",
            status: "False",
            lastTransitionTime: creationTimestamp,
            reason: "SchedulingGated",
            message: "Scheduling is blocked due to non-empty scheduling gates",
          },
        ]
      : undefined,
    qosClass: qosClassOf(spec),
  };
  return { ...pod, spec, status };
}

function withOwnLabels(affinity: Read<PodAffinity>, labels: Readonly<Record<string, string>>): Read<PodAffinity> {
  const withTerm = (term: Read<PodAffinityTerm>): Read<PodAffinityTerm> =>
    withKeys(term, term.matchLabelKeys, term.mismatchLabelKeys, labels);
  const required = change(affinity, "requiredDuringSchedulingIgnoredDuringExecution", (list) =>
    changeItems<PodAffinityTerm>(list, withTerm),
  );
  return change(required, "preferredDuringSchedulingIgnoredDuringExecution", (list) =>
    changeItems<WeightedPodAffinityTerm>(list, (weighted) => change(weighted, "podAffinityTerm", withTerm)),
  );
}

/** The selector with a requirement for each key that is a label of the pod. */
function withKeys<T extends { readonly labelSelector?: Read<LabelSelector> }>(
  term: T,
  match: readonly string[] = [],
  mismatch: readonly string[] = [],
  labels: Readonly<Record<string, string>>,
): T {
  const { labelSelector } = term;
  if (!labelSelector || match.length + mismatch.length === 0) return term;
  const own = (operator: "In" | "NotIn") => (key: string) =>
    Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key] ?? ""] }] : [];
  const added = [...match.flatMap(own("In")), ...mismatch.flatMap(own("NotIn"))];
  return added.length === 0
    ? term
    : {
        ...term,
        labelSelector: { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] },
      };
}

/** Converts AppArmor profiles from annotations to fields. */
function withAppArmorFields(
  spec: Read<PodSpec>,
  annotations: Readonly<Record<string, string>>,
  warn: (text: string) => void,
): Read<PodSpec> {
  if (spec.os?.name === "windows") return spec;
  const withField = <T extends Read<Container>>(container: T): T => {
    const key = `${APP_ARMOR}${container.name}`;
    if (!Object.hasOwn(annotations, key) || container.securityContext?.appArmorProfile) return container;
    const errors: FieldError[] = [];
    const profile = appArmorProfileOf(annotations[key] ?? "");
    if (profile) checkAppArmor(errors, "", profile);
    const isGood = profile !== undefined && errors.length === 0;
    const isNew = isGood && !equalJson(profile, spec.securityContext?.appArmorProfile);
    if (!isGood || isNew)
      warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    return isNew
      ? { ...container, securityContext: { ...container.securityContext, appArmorProfile: profile } }
      : container;
  };
  const init = change(spec, "initContainers", (list) => changeItems<Container>(list, withField));
  return change(init, "containers", (list) => changeItems<Container>(list, withField));
}

const QOS_RESOURCES = ["cpu", "memory"];

/**
 * The quality of service class. Guaranteed when every container has limits for cpu and memory that equal its requests;
 * best effort when none has any. Pod-level resources take precedence over those of the containers.
 */
export function qosClassOf(spec: Read<PodSpec>): "Guaranteed" | "Burstable" | "BestEffort" {
  const { resources } = spec;
  const ofPod =
    resources &&
    [...Object.keys(resources.requests ?? {}), ...Object.keys(resources.limits ?? {})].some(isPodLevelResource);
  const holders = ofPod ? [{ resources }] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let any = false;
  let guaranteed = true;
  for (const { resources: { requests, limits } = {} } of holders) {
    for (const name of QOS_RESOURCES) {
      const request = positive(requests?.[name]);
      const limit = positive(limits?.[name]);
      if (request || limit) any = true;
      if (!limit || (request && compareQuantities(request, limit) !== 0)) guaranteed = false;
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

function positive(amount: string | number | undefined): Quantity | undefined {
  if (amount === undefined) return undefined;
  const quantity = amountOf(amount);
  return quantity.mantissa > 0n ? quantity : undefined;
}
