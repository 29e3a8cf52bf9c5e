/** Finds affinities and selectors that no cluster can satisfy. */
import type { JsonObject } from "@flotilla/base";
import { matchesLabels } from "@flotilla/apimachinery";
import { itemsAt, objectAt, textsAt, valueAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import { affinitiesOf, namedIn, placementOf } from "../lint-fleet.ts";
import type { LintFleet } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";
import { contradictionIn, readSelector } from "../selectors.ts";

interface Affinity {
  manifest: LintManifest;
  item: JsonObject;
  path: FieldPath;
}

export const affinityMatchesNothing = defineRule({
  id: "affinity-matches-nothing",
  severity: "error",
  summary: "no cluster can satisfy the affinity",
  why: "The requirements contradict each other, or every named cluster is also excluded. Nothing would be scheduled, or the override would never apply.",
  fix: "Remove one of the contradicting requirements.",
  *check(fleet) {
    for (const { manifest, item, path } of affinitiesIn(fleet)) {
      const message = problemOf(item, fleet);
      if (message !== undefined) yield { manifest, path, message };
    }
    for (const { manifest, item, path } of placementSelectors(fleet)) {
      const contradiction = contradictionIn(item);
      if (contradiction !== undefined) yield { manifest, path, message: contradiction };
    }
  },
});

function affinitiesIn({ policies, overrides }: LintFleet): Affinity[] {
  const ofPolicies = policies.flatMap((manifest) => {
    const placement = placementOf(manifest);
    const weights = itemsAt(placement, "replicaScheduling", "weightPreference", "staticWeightList").map(
      ({ item, path }) => ({ item: objectAt(item, "targetCluster"), path: [...path, "targetCluster"] }),
    );
    return [...affinitiesOf(placement), ...weights].map(({ item, path }) => ({
      manifest,
      item,
      path: ["spec", "placement", ...path],
    }));
  });
  const ofOverrides = overrides.flatMap((manifest) => {
    const rules = itemsAt(manifest.object, "spec", "overrideRules").map(({ item, path }) => ({
      manifest,
      item: objectAt(item, "targetCluster"),
      path: [...path, "targetCluster"],
    }));
    return [
      ...rules,
      { manifest, item: objectAt(manifest.object, "spec", "targetCluster"), path: ["spec", "targetCluster"] },
    ];
  });
  return [...ofPolicies, ...ofOverrides];
}

function problemOf(affinity: JsonObject, { answers }: LintFleet): string | undefined {
  const contradiction =
    contradictionIn(valueAt(affinity, "labelSelector")) ?? contradictionIn(valueAt(affinity, "fieldSelector"));
  if (contradiction !== undefined) return contradiction;
  const names = namedIn(affinity);
  if (names?.length === 0)
    return `all of clusterNames (${textsAt(affinity, "clusterNames").join(", ")}) are in exclude`;
  const { members } = answers;
  if (!members || Object.keys(affinity).length === 0) return undefined;
  const selector = readSelector(objectAt(affinity, "labelSelector"));
  const fits = members.filter(
    ({ name, labels }) =>
      (names === undefined || names.includes(name)) &&
      !textsAt(affinity, "exclude").includes(name) &&
      (!selector || matchesLabels(selector, labels)),
  );
  return fits.length === 0
    ? `none of the hub's ${members.length} members matches; they are ${members
        .slice(0, 5)
        .map(({ name }) => name)
        .join(", ")}${members.length > 5 ? ", …" : ""}`
    : undefined;
}

/** Open Cluster Management's Placements select by labels and claims. */
function placementSelectors({ of }: LintFleet): Affinity[] {
  return of("cluster.open-cluster-management.io/Placement").flatMap((manifest) =>
    itemsAt(manifest.object, "spec", "predicates").flatMap(({ item, path }) =>
      ["labelSelector", "claimSelector"].map((name) => ({
        manifest,
        item: objectAt(item, "requiredClusterSelector", name),
        path: [...path, "requiredClusterSelector", name],
      })),
    ),
  );
}
