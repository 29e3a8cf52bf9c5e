/** Autoscalers of the fleet that do not scale, and quotas that are exceeded. */
import type { JsonObject } from "@flotilla/base";
import type { Broken } from "./health-fleet.ts";
import { deployment, federatedHpa, object, policy, quota } from "./health-manifests.ts";

const REQUESTS = { container: { resources: { requests: { cpu: "500m" } } } };
const cron = (namespace: string, ref: JsonObject, rule: JsonObject) =>
  object("autoscaling.karmada.io/v1alpha1", "CronFederatedHPA", namespace, "nightly", {
    spec: { scaleTargetRef: ref, rules: [{ name: "up", schedule: "* * * * *", ...rule }] },
  });

export const brokenScaling: Record<string, Broken> = {
  "a FederatedHPA whose pods request nothing": {
    hub: (ns) => [deployment(ns), policy(ns, "Deployment"), federatedHpa(ns)],
    cause: /Deployment web has not been scaled for \w+: FailedGetResourceMetric: .*missing request for cpu/,
  },
  "a FederatedHPA whose target does not exist": {
    hub: (ns) => [federatedHpa(ns, { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "gone" } })],
    cause: /Deployment gone has not been scaled for \w+: FailedGetScale: .*not found/,
    only: ["status", "doctor"],
  },
  "a FederatedHPA whose target no policy selects": {
    hub: (ns) => [deployment(ns, REQUESTS), federatedHpa(ns)],
    cause: /Deployment web has not been scaled for \w+: FailedGetBindings: .*no PropagationPolicy selects it/,
    only: ["status", "doctor"],
  },
  "a CronFederatedHPA whose runs fail": {
    hub: (ns) => [cron(ns, { apiVersion: "apps/v1", kind: "Deployment", name: "gone" }, { targetReplicas: 3 })],
    cause: /[Rr]ule up failed to scale Deployment gone \w+ ago: .*not found/,
    only: ["status", "doctor"],
  },
  "a CronFederatedHPA that is to change a FederatedHPA that does not exist": {
    hub: (ns) => [
      cron(
        ns,
        { apiVersion: "autoscaling.karmada.io/v1alpha1", kind: "FederatedHPA", name: "gone" },
        { targetMaxReplicas: 3 },
      ),
    ],
    cause: /[Rr]ule up failed to scale FederatedHPA gone \w+ ago: .*not found/,
    only: ["status", "doctor"],
  },
  "a FederatedResourceQuota that was lowered below what runs": {
    hub: (ns) => [quota(ns, { overall: { cpu: "2" } }), deployment(ns, REQUESTS), policy(ns, "Deployment")],
    next: ({ patch }, ns) => patch("hub", quota(ns, {}), { spec: { overall: { cpu: "500m" } } }),
    cause: /[Ii]ts namespace uses more than it allows: cpu 1 of 500m/,
  },
  "a FederatedResourceQuota with a part for a cluster that is not a member": {
    hub: (ns) => [
      quota(ns, {
        overall: { cpu: "2" },
        staticAssignments: [{ clusterName: "nowhere", hard: { cpu: "1" } }],
      }),
    ],
    cause: /[Ii]t assigns a part to nowhere, which is not a member/,
    only: ["status", "doctor"],
  },
};
