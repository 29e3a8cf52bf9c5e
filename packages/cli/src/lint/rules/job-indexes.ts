/** Finds Indexed Jobs that are divided over several clusters. */
import { textAt } from "../fields.ts";
import { reachesSeveral } from "../lint-fleet.ts";
import { copyText } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const jobIndexes = defineRule({
  id: "job-indexes",
  severity: "warning",
  summary: "the indexes of a divided Job repeat in every cluster",
  why:
    "Completions are divided, and each cluster numbers the pods of an Indexed Job from 0. Of 10 completions over " +
    "two clusters, the indexes 0 to 4 run twice and 5 to 9 never.",
  fix:
    "Limit the placement to one cluster: a spread constraint by cluster with `maxGroups: 1`, or one name. If the " +
    "pods do not use their index, omit `completionMode`.",
  *check(fleet) {
    for (const manifest of fleet.of("batch/Job")) {
      if (textAt(manifest.object, "spec", "completionMode") !== "Indexed") continue;
      const propagation = fleet.propagationsOf(manifest).find((each) => reachesSeveral(each) && each.how !== "copied");
      if (propagation) yield { manifest, path: ["spec", "completionMode"], message: copyText(propagation) };
    }
  },
});
