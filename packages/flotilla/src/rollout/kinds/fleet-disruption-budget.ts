/** FleetDisruptionBudget: one number of pods that may be unavailable, over all members. Releases draw from it. */
import { ownKind, s } from "@flotilla/apimachinery";

export const FleetDisruptionBudget = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "FleetDisruptionBudget",
  plural: "fleetdisruptionbudgets",
  scope: "Namespaced",
  shortNames: ["fdb"],
  categories: ["flotilla"],
  description:
    "FleetDisruptionBudget limits how many pods of the workloads that it selects are unavailable at once, over " +
    "all members. Releases draw from it. Pods that cannot be observed count as unavailable.",
  spec: s.object(
    {
      selector: s.labelSelector("Selects templates in this namespace by their labels."),
      maxUnavailable: s.optional(
        s.intOrString("How many pods may be unavailable; a percentage is of all selected pods, rounded up."),
      ),
      minAvailable: s.optional(
        s.intOrString("How many pods must stay available; a percentage is of all selected pods, rounded up."),
      ),
    },
    {
      rules: [
        {
          rule: "has(self.maxUnavailable) != has(self.minAvailable)",
          message: "a budget has exactly one of maxUnavailable and minAvailable",
        },
      ],
    },
  ),
  status: s.object({
    observedGeneration: s.optional(s.integer("The generation that the status is about.", { format: "int64" })),
    expected: s.integer("Pods that the selected workloads should run.", { default: 0 }),
    available: s.integer("Of these, pods that are known to be available.", { default: 0 }),
    allowed: s.integer("How many pods may still be made unavailable.", { default: 0 }),
    limit: s.integer("How many pods may be unavailable.", { default: 0 }),
    claims: s.optional(
      s.array(
        "What draws from the budget now.",
        s.object({
          holder: s.string("What draws: `FleetRollout web-7c9f`.", {
            maxLength: 512,
          }),
          pods: s.integer("How many pods it may be making unavailable."),
          since: s.optional(s.time("Since when.")),
          expires: s.optional(s.time("When the claim ends by itself.")),
        }),
        { maxItems: 2000 },
      ),
    ),
    conditions: s.optional(s.conditions("DisruptionAllowed.")),
  }),
  columns: {
    "Max-Unavailable": ".spec.maxUnavailable",
    "Min-Available": ".spec.minAvailable",
    Expected: ".status.expected",
    Available: ".status.available",
    Allowed: ".status.allowed",
  },
});
export type FleetDisruptionBudget = s.Infer<typeof FleetDisruptionBudget>;
