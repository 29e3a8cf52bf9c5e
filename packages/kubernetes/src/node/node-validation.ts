/** Validates a Node. Taint errors are reported under `metadata`, because taints were once annotations. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, field, labelKeyProblems, labelValueProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { Node, NodeStatus, Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkNetwork, networkWarnings, parseNetwork } from "../networking/addresses.ts";
import { checkResourceAmount } from "../resources/resource-names.ts";

type Read<T> = DeepReadonly<T>;

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const MAX_FEATURE_LENGTH = 253;

/** Rules for a new Node and for a replaced one. */
export function checkNode({ spec = {}, status = {} }: Read<Node>): FieldError[] {
  const errors = [...checkTaints(spec.taints ?? []), ...checkAmounts(status)];
  const swap = status.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0)
    errors.push(field.invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero"));
  errors.push(...checkFeatures(status.declaredFeatures ?? []));
  const { podCIDRs: networks = [] } = spec;
  errors.push(...networks.flatMap((network, index) => checkNetwork(`spec.podCIDRs[${index}]`, network)));
  if (networks.length > 1) {
    const families = new Set(networks.map((network) => parseNetwork(network)?.address.family));
    if (networks.length > 2 || families.size < 2)
      errors.push(field.invalid("spec.podCIDRs", networks, "may specify no more than one CIDR for each IP family"));
  }
  return errors;
}

/** Additional rules for an update of a Node or its status. */
export function checkNodeUpdate({ spec = {}, status = {} }: Read<Node>, { spec: old = {} }: Read<Node>): FieldError[] {
  const errors = [...checkAmounts(status), ...checkFeatures(status.declaredFeatures ?? [])];
  const seen = new Set<string>();
  for (const [index, { type, address }] of (status.addresses ?? []).entries()) {
    const key = `${type} ${address}`;
    if (seen.has(key)) errors.push(field.duplicate(`status.addresses[${index}]`, { Type: type, Address: address }));
    seen.add(key);
  }
  const { podCIDRs: networks = [] } = spec;
  const { podCIDRs: before = [] } = old;
  const changed =
    before.length === networks.length
      ? before.filter((network, index) => network !== networks[index]).length
      : Math.min(before.length, 1);
  for (let count = 0; count < changed; count++)
    errors.push(field.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  if (old.providerID && old.providerID !== spec.providerID)
    errors.push(field.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  errors.push(...checkTaints(spec.taints ?? []));
  if ((old.externalID ?? "") !== (spec.externalID ?? ""))
    errors.push(field.forbidden("spec.externalID", "may not be updated"));
  return errors;
}

function checkTaints(taints: readonly Sent<Taint>[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const { key = "", value = "", effect } = taint;
    const at = `metadata.taints[${index}]`;
    const errors = checkText(`${at}.key`, key, labelKeyProblems);
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(field.invalid(`${at}.value`, value, problems.join(";")));
    if (!effect) errors.push(field.required(`${at}.effect`));
    else if (!EFFECTS.includes(effect)) errors.push(field.notSupported(`${at}.effect`, effect, EFFECTS));
    const pair = `${effect ?? ""} ${key}`;
    if (seen.has(pair)) {
      const { message, ...duplicate } = field.duplicate(at, {
        Key: key,
        Value: value,
        Effect: effect ?? "",
        TimeAdded: taint.timeAdded ?? null,
      });
      errors.push({ ...duplicate, message: `${message}: taints must be unique by key and effect pair` });
    }
    seen.add(pair);
    return errors;
  });
}

function checkAmounts({ capacity = {}, allocatable = {} }: Read<NodeStatus>): FieldError[] {
  return [
    ...Object.entries(capacity).flatMap(([name, amount]) =>
      checkResourceAmount(`status.capacity.${name}`, name, amount),
    ),
    ...Object.entries(allocatable).flatMap(([name, amount]) =>
      checkResourceAmount(`status.allocatable.${name}`, name, amount),
    ),
  ];
}

/** Feature names that a node declares: sorted and unique. */
function checkFeatures(features: readonly string[]): FieldError[] {
  return features.flatMap((feature, index) => {
    const at = (place: number): string => `status.declaredFeatures[${place}]`;
    const errors: FieldError[] = [];
    if (feature.length > MAX_FEATURE_LENGTH)
      errors.push(
        field.invalid(
          at(index),
          feature,
          `invalid feature name ${JSON.stringify(feature)}: must be no more than ${MAX_FEATURE_LENGTH} characters`,
        ),
      );
    else if (!FEATURE.test(feature)) {
      const rule =
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature " +
        "or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
      errors.push(field.invalid(at(index), feature, `invalid feature name ${JSON.stringify(feature)}: ${rule}`));
    }
    const next = features[index + 1];
    if (next === feature) errors.push(field.duplicate(at(index + 1), next));
    else if (next !== undefined && next < feature)
      errors.push(field.invalid(at(index + 1), next, "list must be sorted alphabetically"));
    return errors;
  });
}

export function nodeWarnings({ spec = {} }: Read<Node>): string[] {
  return [
    ...(spec.configSource ? ["spec.configSource: the feature is removed"] : []),
    ...(spec.externalID ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] : []),
    ...(spec.podCIDRs ?? []).flatMap((network, index) => networkWarnings(`spec.podCIDRs[${index}]`, network)),
  ];
}
