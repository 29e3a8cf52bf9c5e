/** Finds Retain rules that take the partition, the replicas or the update strategy from the hub. */
import { LEFT_TO_MEMBERS } from "@flotilla/flotilla";
import { checkManifests } from "../../interpret/check-manifests.ts";
import { customizationsOf } from "../customizations.ts";
import { defineRule } from "../rule.ts";

export const interpreterRetainsRelease = defineRule({
  id: "interpreter-retains-release",
  severity: "warning",
  summary: "a Retain rule leaves the partition, the replicas or the update strategy to the members",
  why:
    "The hub's values then apply only where an object is created. A release by partition from the hub has no " +
    "effect on existing objects, and the hub stops one that would reach more pods than requested. The rule " +
    "is run on probe objects, so that Lua is found as well as paths.",
  fix:
    "Retain narrower fields, such as the ones that a controller on the member really sets; or, if the members " +
    "should decide, omit the partition in the template.",
  *check(fleet) {
    const customizations = customizationsOf(fleet);
    for (const [index, { warnings }] of checkManifests(customizations).entries()) {
      const manifest = customizations[index]?.origin;
      if (!manifest) continue;
      // Without the file and the field, which a report has anyway.
      for (const warning of warnings.filter(isAboutRetain))
        yield {
          manifest,
          path: ["spec", "customizations", "retention"],
          message: warning.slice(warning.indexOf("the Retain rule")),
        };
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutRetain = (warning: string): boolean => warning.includes(LEFT_TO_MEMBERS);
