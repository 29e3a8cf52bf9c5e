/** Finds lifecycle hooks, which need a controller on every member. */
import { listAt, objectAt } from "../fields.ts";
import { copyText, PARTITIONED, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

const HOOKS = ["preDelete", "inPlaceUpdate", "preNormal"] as const;

export const kruiseLifecycleHooks = defineRule({
  id: "kruise-lifecycle-hooks",
  severity: "warning",
  summary: "lifecycle hooks need a controller on every member",
  why:
    "A pod with a hook waits in PreparingUpdate or PreparingDelete until a controller in its own cluster " +
    "removes the label or finalizer. Without that controller, updates, scaling and deletion are stuck.",
  fix: "Run the controller that handles the hook on every member, for example with its own policy, and disable this rule.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const hook = HOOKS.find(
        (name) =>
          Object.keys(objectAt(manifest.object, "spec", "lifecycle", name, "labelsHandler")).length +
            listAt(manifest.object, "spec", "lifecycle", name, "finalizersHandler").length >
          0,
      );
      const propagation = hook && severalPropagation(fleet, manifest);
      if (hook && propagation)
        yield {
          manifest,
          path: ["spec", "lifecycle", hook],
          message: `${copyText(propagation)}, and pods wait for ${hook} in each`,
        };
    }
  },
});
