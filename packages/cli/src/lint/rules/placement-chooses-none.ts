/** Finds Placements that select no cluster. */
import { itemsAt, numberAt, textAt, textsAt } from "../fields.ts";
import { PLACEMENT } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { DEFAULT_NAMESPACE, namespaceOf } from "../selectors.ts";

const SET_BINDING = "cluster.open-cluster-management.io/ManagedClusterSetBinding";

export const placementChoosesNone = defineRule({
  id: "placement-chooses-none",
  severity: "warning",
  summary: "a Placement can select no cluster",
  why:
    "A Placement selects among the clusters of the ManagedClusterSets that are bound to its namespace. With no " +
    "such set, or with `numberOfClusters: 0`, its decisions stay empty.",
  fix:
    "Add a ManagedClusterSetBinding for the set in the Placement's namespace. Only in the namespace `default` " +
    "does the set `default` count as bound when the Placement names it.",
  *check({ of, answers }) {
    const bound = Map.groupBy(of(SET_BINDING), namespaceOf);
    for (const manifest of of(PLACEMENT)) {
      if (numberAt(manifest.object, "spec", "numberOfClusters") === 0)
        yield { manifest, path: ["spec", "numberOfClusters"], message: "it requests no cluster at all" };
      const sets = textsAt(manifest.object, "spec", "clusterSets");
      const here = new Set(
        (bound.get(namespaceOf(manifest)) ?? []).map(
          ({ object, name }) => textAt(object, "spec", "clusterSet") || name,
        ),
      );
      const isShorthand = namespaceOf(manifest) === DEFAULT_NAMESPACE && sets.includes("default");
      // A real hub knows bindings that are not among the files, and reports this itself.
      const isUnbound = here.size === 0 || (sets.length > 0 && sets.every((set) => !here.has(set)));
      if (isUnbound && !isShorthand && !answers.isReal)
        yield {
          manifest,
          path: ["spec", "clusterSets"],
          message: `no ManagedClusterSetBinding${sets.length > 0 ? ` of ${sets.join(", ")}` : ""} in namespace ${namespaceOf(manifest)} is among the files`,
        };
      // Predicates are alternatives; one without requirements makes the others pointless.
      const empty = itemsAt(manifest.object, "spec", "predicates").find(({ item }) => Object.keys(item).length === 0);
      if (empty) yield { manifest, path: empty.path, message: "a predicate without a selector matches every cluster" };
    }
  },
});
