/** Validates where pods may run: affinities, tolerations and topology spread constraints. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import {
  checkSelector,
  checkText,
  dnsLabelProblems,
  field,
  labelKeyProblems,
  labelValueProblems,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  Affinity,
  PodAffinity,
  PodAffinityTerm,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { checkNodeSelector, checkNodeSelectorTerm } from "../node/node-selector.ts";

type Read<T> = DeepReadonly<T>;

export function checkAffinity(
  errors: FieldError[],
  at: string,
  { nodeAffinity, podAffinity, podAntiAffinity }: Read<Affinity>,
): void {
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required)
    errors.push(...checkNodeSelector(`${at}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution`, required));
  for (const [index, { weight = 0, preference }] of (
    nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  ).entries()) {
    const path = `${at}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkWeight(errors, path, weight);
    errors.push(...checkNodeSelectorTerm(`${path}.preference`, preference ?? {}, true));
  }
  if (podAffinity) checkPodAffinity(errors, `${at}.podAffinity`, podAffinity);
  if (podAntiAffinity) checkPodAffinity(errors, `${at}.podAntiAffinity`, podAntiAffinity);
}

function checkWeight(errors: FieldError[], at: string, weight: number): void {
  if (weight <= 0 || weight > 100) errors.push(field.invalid(`${at}.weight`, weight, "must be in the range 1-100"));
}

function checkPodAffinity(
  errors: FieldError[],
  at: string,
  {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }: Read<PodAffinity>,
): void {
  for (const [index, term] of (required ?? []).entries())
    checkPodAffinityTerm(errors, `${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`, term);
  for (const [index, { weight = 0, podAffinityTerm }] of (preferred ?? []).entries()) {
    const path = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    checkWeight(errors, path, weight);
    checkPodAffinityTerm(errors, `${path}.podAffinityTerm`, podAffinityTerm ?? { topologyKey: "" });
  }
}

function checkPodAffinityTerm(errors: FieldError[], at: string, read: Read<PodAffinityTerm>): void {
  const { labelSelector, namespaceSelector, namespaces, matchLabelKeys, mismatchLabelKeys, topologyKey = "" } = read;
  errors.push(
    ...checkSelector(`${at}.labelSelector`, labelSelector),
    ...checkSelector(`${at}.namespaceSelector`, namespaceSelector),
  );
  for (const name of namespaces ?? []) errors.push(...checkText(`${at}.namespace`, name, dnsLabelProblems));
  checkLabelKeys(errors, at, matchLabelKeys, mismatchLabelKeys, labelSelector);
  if (topologyKey === "") errors.push(field.required(`${at}.topologyKey`, "can not be empty"));
  errors.push(...checkText(`${at}.topologyKey`, topologyKey, labelKeyProblems));
}

/** Label keys whose values are taken from the pod itself when it is created. */
function checkLabelKeys(
  errors: FieldError[],
  at: string,
  match: readonly string[] = [],
  mismatch: readonly string[] = [],
  selector: Read<LabelSelector> | undefined,
): void {
  for (const [name, keys] of [
    ["matchLabelKeys", match],
    ["mismatchLabelKeys", mismatch],
  ] as const) {
    if (keys.length === 0) continue;
    if (!selector) errors.push(field.forbidden(`${at}.${name}`, "must not be specified when labelSelector is not set"));
    else
      for (const [index, key] of keys.entries())
        errors.push(...checkText(`${at}.${name}[${index}]`, key, labelKeyProblems));
  }
  if (selector && match.length > 0) {
    const stated = new Set(Object.keys(selector.matchLabels ?? {}));
    for (const { key } of selector.matchExpressions ?? []) {
      const index = match.lastIndexOf(key);
      if (index >= 0 && stated.has(key))
        errors.push(field.invalid(`${at}[${index}]`, key, "exists in both matchLabelKeys and labelSelector"));
      stated.add(key);
    }
  }
  for (const [index, key] of match.entries())
    if (mismatch.includes(key))
      errors.push(
        field.invalid(`${at}.matchLabelKeys[${index}]`, key, "exists in both matchLabelKeys and mismatchLabelKeys"),
      );
}

const UNSATISFIABLE = ["DoNotSchedule", "ScheduleAnyway"];
const INCLUSION = ["Honor", "Ignore"];

export function checkSpread(
  errors: FieldError[],
  at: string,
  constraints: readonly Read<TopologySpreadConstraint>[],
): void {
  for (const [index, constraint] of constraints.entries()) {
    const path = `${at}[${index}]`;
    const {
      maxSkew = 0,
      topologyKey = "",
      whenUnsatisfiable = "",
      minDomains,
      nodeAffinityPolicy,
      nodeTaintsPolicy,
      matchLabelKeys,
      labelSelector,
    } = constraint;
    if (maxSkew <= 0) errors.push(field.invalid(`${path}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") errors.push(field.required(`${path}.topologyKey`, "can not be empty"));
    if (!UNSATISFIABLE.includes(whenUnsatisfiable))
      errors.push(field.notSupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable, UNSATISFIABLE));
    const repeated = constraints
      .slice(index + 1)
      .some(
        (other) => (other.topologyKey ?? "") === topologyKey && (other.whenUnsatisfiable ?? "") === whenUnsatisfiable,
      );
    if (repeated)
      errors.push(
        field.duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`),
      );
    if (minDomains !== undefined) {
      if (minDomains <= 0) errors.push(field.invalid(`${path}.minDomains`, minDomains, "must be greater than zero"));
      if (whenUnsatisfiable !== "DoNotSchedule")
        errors.push(
          field.invalid(
            `${path}.minDomains`,
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        );
    }
    if (nodeAffinityPolicy !== undefined && !INCLUSION.includes(nodeAffinityPolicy))
      errors.push(field.notSupported(`${path}.nodeAffinityPolicy`, nodeAffinityPolicy, INCLUSION));
    if (nodeTaintsPolicy !== undefined && !INCLUSION.includes(nodeTaintsPolicy))
      errors.push(field.notSupported(`${path}.nodeTaintsPolicy`, nodeTaintsPolicy, INCLUSION));
    checkLabelKeys(errors, path, matchLabelKeys, undefined, labelSelector);
    errors.push(...checkSelector(`${path}.labelSelector`, labelSelector));
  }
}

export function checkGates(errors: FieldError[], at: string, gates: readonly Read<PodSchedulingGate>[]): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of gates.entries()) {
    errors.push(...checkText(`${at}[${index}]`, name, labelKeyProblems));
    if (seen.has(name)) errors.push(field.duplicate(`${at}[${index}]`, name));
    seen.add(name);
  }
}

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A toleration before validation: it may hold values that its type excludes. */
interface AnyToleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export function checkToleration(at: string, toleration: AnyToleration): FieldError[] {
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
  const errors: FieldError[] = key === "" ? [] : checkText(`${at}.key`, key, labelKeyProblems);
  if (key === "" && operator !== "Exists")
    errors.push(
      field.invalid(
        `${at}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  if (tolerationSeconds !== undefined && effect !== "NoExecute")
    errors.push(field.invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  switch (operator) {
    case "":
    case "Equal": {
      const problems = labelValueProblems(value);
      if (problems.length > 0) errors.push(field.invalid(`${at}.operator`, value, problems.join(";")));
      break;
    }
    case "Exists":
      if (value !== "")
        errors.push(field.invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
      break;
    case "Lt":
    case "Gt":
      // The API defines numeric comparisons, but their feature gate is off by default.
      errors.push(field.notSupported(`${at}.operator`, operator, ["Equal", "Exists", "Lt", "Gt"]));
      break;
    default:
      errors.push(field.notSupported(`${at}.operator`, operator, ["Equal", "Exists"]));
  }
  if (effect !== "" && !TAINT_EFFECTS.includes(effect))
    errors.push(field.notSupported(`${at}.effect`, effect, TAINT_EFFECTS));
  return errors;
}

export function checkTolerations(errors: FieldError[], at: string, tolerations: readonly Read<Toleration>[]): void {
  for (const [index, toleration] of tolerations.entries())
    errors.push(...checkToleration(`${at}[${index}]`, toleration));
}
