/** Defaults and validation of Node. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, fill } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { NodeSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkNode, checkNodeUpdate, nodeWarnings } from "./node-validation.ts";
import { Node } from "./node-kind.ts";

/** `podCIDR` and the first item of `podCIDRs` are the same value; where they differ `podCIDR` wins. */
function completeSpec(spec: DeepReadonly<NodeSpec>): DeepReadonly<NodeSpec> {
  const { podCIDR, podCIDRs = [] } = spec;
  if (podCIDR) return podCIDRs[0] === podCIDR ? spec : { ...spec, podCIDRs: [podCIDR] };
  const [first] = podCIDRs;
  return first === undefined ? spec : { ...spec, podCIDR: first };
}

/** Allocatable defaults to the capacity until the kubelet sets it. */
function completeStatus(node: DeepReadonly<Node>): DeepReadonly<Node> {
  return change(node, "status", (status) => fill(status, { allocatable: status.capacity }));
}

/** Kubelet configuration through the API was removed; an old Node keeps its existing value. */
function withoutConfig(node: DeepReadonly<Node>, old: DeepReadonly<Node> | undefined): DeepReadonly<Node> {
  if (!node.spec?.configSource || old?.spec?.configSource) return node;
  const { configSource: _, ...spec } = node.spec;
  return { ...node, spec };
}

export const rules: AnyAdmission[] = [
  builtInAdmission(Node, "core-v1", {
    complete: (node, { oldObject }) => completeStatus(withoutConfig(change(node, "spec", completeSpec), oldObject)),
    completeStatus,
    validate: ({ object, oldObject }) => [
      ...checkNode(object),
      ...(oldObject ? checkNodeUpdate(object, oldObject) : []),
    ],
    validateStatus: ({ object, oldObject }) => (oldObject ? checkNodeUpdate(object, oldObject) : []),
    warnings: ({ object, subresource }) => (subresource === undefined ? nodeWarnings(object) : []),
  }),
];
