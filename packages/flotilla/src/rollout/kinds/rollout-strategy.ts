/** RolloutStrategy: how the workloads of a namespace are released. One strategy serves many. */
import { ownKind, s } from "@flotilla/apimachinery";
import { strategyFields } from "./strategy-fields.ts";

export const RolloutStrategy = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "RolloutStrategy",
  plural: "rolloutstrategies",
  scope: "Namespaced",
  categories: ["flotilla"],
  description:
    "RolloutStrategy says how templates in its namespace are released over the fleet: in which waves, " +
    "behind which gates, within which budget, and what happens when a release fails. A changed template " +
    "that it selects gets a FleetRollout.",
  spec: s.object({
    selector: s.labelSelector(
      "Selects templates in this namespace by their labels. If several strategies select one, the first by name applies.",
    ),
    historyLimit: s.integer("How many finished FleetRollouts of a template are kept.", {
      default: 10,
      minimum: 1,
      maximum: 100,
    }),
    ...strategyFields,
  }),
  columns: {
    Failure: ".spec.failure.action",
    "Max-Unavailable": { path: ".spec.maxUnavailable", isWide: true },
    Order: { path: ".spec.order", isWide: true },
  },
});
export type RolloutStrategy = s.Infer<typeof RolloutStrategy>;
