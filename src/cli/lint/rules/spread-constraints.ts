/** Spread constraints that cannot be met together, or not with the members that are named. */
import { itemsAt, numberAt, textAt } from "../fields.ts";
import { affinitiesOf, namedIn, placementOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const spreadConstraints = defineRule({
  id: "spread-constraints",
  severity: "error",
  summary: "spread constraints contradict each other or the affinity",
  why: "A policy whose constraints cannot be met schedules nothing: the binding stays at `Scheduled=False`.",
  fix: "Lower `minGroups`, raise `maxGroups`, or let the affinity have more clusters.",
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
        // The hub itself refuses more groups at least than at most; without a hub this is all that says so.
        if (min > max)
          yield { manifest, path, message: `at least ${min} groups by ${by} are asked for, and at most ${max}` };
        else if (most !== undefined && min > most)
          yield {
            manifest,
            path,
            message: `at least ${min} groups by ${by} are asked for, and there are ${most} clusters`,
          };
        // Every region, zone or provider has a cluster of its own.
        else if (by !== "cluster" && clusters && min > clusters.max)
          yield {
            manifest,
            path,
            message: `${min} groups by ${by} need as many clusters, and at most ${clusters.max} may be used`,
          };
      }
    }
  },
});
