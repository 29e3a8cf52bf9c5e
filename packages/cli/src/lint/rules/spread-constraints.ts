/** Finds spread constraints that conflict with each other, or with the named members. */
import { itemsAt, numberAt, textAt } from "../fields.ts";
import { affinitiesOf, namedIn, placementOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const spreadConstraints = defineRule({
  id: "spread-constraints",
  severity: "error",
  summary: "spread constraints contradict each other or the affinity",
  why: "A policy whose constraints cannot be met schedules nothing: the binding stays at `Scheduled=False`.",
  fix: "Lower `minGroups`, raise `maxGroups`, or add clusters to the affinity.",
  *check({ policies, answers }) {
    for (const manifest of policies) {
      const placement = placementOf(manifest);
      const constraints = itemsAt(placement, "spreadConstraints").map(({ item, path }) => ({
        path: ["spec", "placement", ...path],
        by: textAt(item, "spreadByLabel") || textAt(item, "spreadByField") || "cluster",
        min: numberAt(item, "minGroups") ?? 1,
        max: numberAt(item, "maxGroups") ?? Infinity,
      }));
      const clusters = constraints.find(({ by }) => by === "cluster");
      const named = affinitiesOf(placement).map(({ item }) => namedIn(item));
      const most =
        named.length > 0 && named.every((names) => names !== undefined)
          ? Math.max(...named.map((names) => names?.length ?? 0))
          : answers.members?.length;
      for (const { path, by, min, max } of constraints) {
        // The hub also rejects a minimum above the maximum; without a hub only this check reports it.
        if (min > max)
          yield { manifest, path, message: `at least ${min} groups by ${by} are required, but at most ${max} allowed` };
        else if (most !== undefined && min > most)
          yield {
            manifest,
            path,
            message: `at least ${min} groups by ${by} are required, but there are only ${most} clusters`,
          };
        // Every region, zone or provider needs at least one cluster.
        else if (by !== "cluster" && clusters && min > clusters.max)
          yield {
            manifest,
            path,
            message: `${min} groups by ${by} need as many clusters, but at most ${clusters.max} may be used`,
          };
      }
    }
  },
});
