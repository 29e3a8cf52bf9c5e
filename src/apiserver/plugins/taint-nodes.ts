/** TaintNodesByCondition: a new node gets a NoSchedule taint until a controller has seen that it is ready. */
import type { Node, Taint } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { writesKind } from "../plugin.ts";
import type { Plugin } from "../plugin.ts";

const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export const taintNodes: Plugin = {
  name: "TaintNodesByCondition",
  group: "",
  // Simulated nodes are ready from the start, and no controller would remove the taint.
  concerns: (context, operation) => operation === "CREATE" && !context.byController && writesKind(context, "", "Node"),
  mutate({ object }) {
    const node = object as unknown as DeepReadonly<Node>;
    const taints = node.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return object;
    return { ...node, spec: { ...node.spec, taints: [...taints, NOT_READY] } };
  },
};
