/**
 * A logical cluster that has joined the fleet is not deleted from under it: what the fleet runs there would go, and it
 * would still be scheduled to.
 */
import { forbidden } from "../../machinery/index.ts";
import type { Plugin } from "../plugin.ts";
import { writesKind } from "../plugin.ts";

export const joinedClusters: Plugin = {
  name: "JoinedClusters",
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
