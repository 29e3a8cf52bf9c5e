/** Every plugin that the server runs, in order. */
import type { Plugin } from "../plugin.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { claimResize, defaultStorageClass } from "./default-storage-class.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { defaultTolerations } from "./default-tolerations.ts";
import { deletionProtection } from "./deletion-protection.ts";
import { joinedClusters } from "./joined-clusters.ts";
import { limitRanger } from "./limit-ranger.ts";
import { podSecurity } from "./pod-security.ts";
import { policyTargets } from "./policy-targets.ts";
import { priority } from "./priority.ts";
import { priorityClassDefault } from "./priority-class.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { taintNodes } from "./taint-nodes.ts";

export const builtInPlugins: readonly Plugin[] = [
  limitRanger,
  serviceAccount,
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
  joinedClusters,
  policyTargets,
  deletionProtection,
];
