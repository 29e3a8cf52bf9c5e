/** The admission steps that every server has, in order; they follow those that it is given. */
import { lazyStep } from "@flotilla/apimachinery";
import type { AnyStep } from "@flotilla/apimachinery";
import { createCertificateSteps } from "./certificates.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { claimResize, defaultStorageClass } from "./default-storage-class.ts";
import { defaultTolerations } from "./default-tolerations.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { limitRanger } from "./limit-ranger.ts";
import { nodeRestriction } from "./node-restriction.ts";
import { podSecurity } from "./pod-security.ts";
import { priority } from "./priority.ts";
import { priorityClassDefault } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { createServiceAccountStep } from "./service-account.ts";
import { taintNodes } from "./taint-nodes.ts";
import { volumeLifecycle } from "./volume-lifecycle.ts";

const deviceClaims = lazyStep(
  {
    name: "DeviceClaims",
    for: ({ group, builtIn }) => group === "resource.k8s.io" && builtIn,
    on: ["CREATE", "UPDATE"],
  },
  ["complete", "check"],
  async () => (await import("./device-claims.ts")).deviceClaims,
);

export interface BuiltInStepOptions {
  /** Groups that no requested client certificate may carry. */
  restrictedGroups: readonly string[];
  arePodsTemplates(cluster: string): boolean;
}

export function createBuiltInSteps(options: BuiltInStepOptions): readonly AnyStep[] {
  return [
    ...volumeLifecycle,
    deviceClaims,
    ...createCertificateSteps(options),
    limitRanger,
    createServiceAccountStep(options.arePodsTemplates),
    nodeRestriction,
    taintNodes,
    podSecurity,
    priority,
    defaultTolerations,
    runtimeClass,
    defaultStorageClass,
    claimResize,
    defaultIngressClass,
    endpointSlices,
    priorityClassDefault,
    resourceQuota,
  ];
}
