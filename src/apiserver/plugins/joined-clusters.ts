/**
 * A logical cluster that is a member of the fleet cannot be deleted: its workloads would be lost, and the scheduler
 * would still select it.
 */
import { forbidden } from "../../machinery/index.ts";
import type { Plugin } from "../plugin.ts";
import { writesKind } from "../plugin.ts";

export const joinedClusters: Plugin = {
  name: "JoinedClusters",
  group: "flotilla.dev",
  concerns: (context, operation) => operation === "DELETE" && writesKind(context, "flotilla.dev", "LogicalCluster"),
  validate({ context: { name = "" }, read }) {
    if (!read.get("cluster.karmada.io", "clusters", undefined, name)) return;
    throw forbidden(
      { group: "flotilla.dev", resource: "logicalclusters" },
      name,
      "it is a member of the fleet; unjoin it first (delete its Cluster)",
    );
  },
};
