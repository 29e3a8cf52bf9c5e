/** TaintNodesByCondition: a new node gets a NoSchedule taint until a controller has seen that it is ready. */
import { Node, NOT_READY_TAINT } from "@flotilla/kubernetes";
import type { AdmissionStep } from "@flotilla/apimachinery";
import type { Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { writesObject } from "./writes-object.ts";

const NOT_READY: Taint = { key: NOT_READY_TAINT, effect: "NoSchedule" };

export const taintNodes: AdmissionStep<Node> = {
  name: "TaintNodesByCondition",
  for: Node,
  on: ["CREATE"],
  // Simulated nodes are ready from the start, and no controller would remove the taint.
  matches: (request) => !request.byController && writesObject(request),
  complete({ object: node }) {
    const taints = node.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return node;
    return { ...node, spec: { ...node.spec, taints: [...taints, NOT_READY] } };
  },
};
