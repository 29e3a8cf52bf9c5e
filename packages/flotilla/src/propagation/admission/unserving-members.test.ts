import { describe, expect, test } from "vitest";
import type { Cluster, PropagationPolicy } from "@flotilla/karmada";
import { unservingMembers, unservingText } from "./unserving-members.ts";
import type { PlacementUse } from "./unserving-members.ts";

const member = (name: string, ...kinds: [groupVersion: string, kind: string][]): Cluster => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name, labels: { tier: name === "oslo" ? "gold" : "silver" } },
  spec: { syncMode: "Push" },
  status: {
    apiEnablements: kinds.map(([groupVersion, kind]) => ({ groupVersion, resources: [{ name: kind, kind }] })),
  },
});
const members = [
  member("oslo", ["example.com/v1", "Widget"], ["apps.kruise.io/v1beta1", "CloneSet"]),
  member("rome", ["apps/v1", "Deployment"]),
  member("bonn"),
];
const widget = { apiVersion: "example.com/v1", kind: "Widget" };
type Placement = PropagationPolicy["spec"]["placement"];

describe("members without the kind", () => {
  const cases: Record<string, { placement?: Placement; selector?: typeof widget; use?: PlacementUse; want: string[] }> =
    {
      "are found if the policy names them": {
        placement: { clusterAffinity: { clusterNames: ["oslo", "rome"] } },
        want: ["spec.placement.clusterAffinity: rome does not serve Widget in example.com/v1, so it gets no copies"],
      },
      "are found if the policy selects them by label": {
        placement: {
          clusterAffinities: [
            { affinityName: "a", clusterNames: ["oslo"] },
            { affinityName: "b", labelSelector: { matchLabels: { tier: "silver" } } },
          ],
        },
        want: [
          "spec.placement.clusterAffinities[1]: rome does not serve Widget in example.com/v1, so it gets no copies",
        ],
      },
      "are not found before they have reported what they serve": {
        placement: { clusterAffinity: { clusterNames: ["bonn"] } },
        want: [],
      },
      "are not found for a policy that selects no particular member": { placement: { clusterAffinity: {} }, want: [] },
      "are not found for a policy whose label selector is empty, which selects every member": {
        placement: { clusterAffinity: { labelSelector: { matchLabels: {} }, fieldSelector: {} } },
        want: [],
      },
      "are not found in a term that no binding uses": {
        placement: {
          clusterAffinities: [
            { affinityName: "a", clusterNames: ["oslo"] },
            { affinityName: "b", clusterNames: ["rome"] },
          ],
        },
        use: { affinities: new Set(["a"]), hasCopies: () => false },
        want: [],
      },
      "are not found if they have copies": {
        placement: { clusterAffinity: { clusterNames: ["rome"] } },
        use: { affinities: new Set(), hasCopies: (cluster, ref) => cluster === "rome" && ref.kind === "Widget" },
        want: [],
      },
      "are not found for a policy without a placement": { want: [] },
      "are not found if they serve a version that delivery converts to": {
        placement: { clusterAffinity: { clusterNames: ["oslo"] } },
        selector: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
        want: [],
      },
    };
  for (const [behaviour, { placement, selector = widget, use, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const found = unservingMembers({ placement, resourceSelectors: [selector] }, members, use);

      expect(found.map((each) => `${each.at}: ${unservingText(each)}`)).toEqual(want);
    });
  }
});
