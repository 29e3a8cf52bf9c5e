/** Hooks that wait for somebody on every member. */
import { listAt, objectAt } from "../fields.ts";
import { copyText, PARTITIONED, severalJourney } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

const HOOKS = ["preDelete", "inPlaceUpdate", "preNormal"] as const;

export const kruiseLifecycleHooks = defineRule({
  id: "kruise-lifecycle-hooks",
  severity: "warning",
  summary: "lifecycle hooks need an answer on every member",
  why: "A pod with a hook waits in PreparingUpdate or PreparingDelete until something in its own cluster takes the label or finalizer off. Where that controller is missing, updates, scaling and deletion stand still.",
  fix: "Run the controller that answers the hook on every member, for example with a policy of its own, and silence this rule.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const hook = HOOKS.find(
        (name) =>
          Object.keys(objectAt(manifest.object, "spec", "lifecycle", name, "labelsHandler")).length +
            listAt(manifest.object, "spec", "lifecycle", name, "finalizersHandler").length >
          0,
      );
      const journey = hook && severalJourney(fleet, manifest);
      if (hook && journey)
        yield {
          manifest,
          path: ["spec", "lifecycle", hook],
          message: `${copyText(journey)}, and pods wait for ${hook} in each`,
        };
    }
  },
});
