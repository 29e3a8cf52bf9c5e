/** The APIServices of what a server itself serves, with the priorities that order groups and versions in discovery. */
import { AUTOMANAGED } from "../well-known-names.ts";
import type { APIService } from "./api-service-kind.ts";

interface Priority {
  group: number;
  version: number;
}

/** As in kube-apiserver 1.36. */
const PRIORITIES: Readonly<Record<string, number>> = {
  "apiregistration.k8s.io": 20_000,
  "": 18_000,
  apps: 17_800,
  "events.k8s.io": 17_750,
  "authentication.k8s.io": 17_700,
  "authorization.k8s.io": 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  "certificates.k8s.io": 17_300,
  "networking.k8s.io": 17_200,
  policy: 17_100,
  "rbac.authorization.k8s.io": 17_000,
  "storage.k8s.io": 16_800,
  "apiextensions.k8s.io": 16_700,
  "admissionregistration.k8s.io": 16_700,
  "scheduling.k8s.io": 16_600,
  "coordination.k8s.io": 16_500,
  "node.k8s.io": 16_300,
  "discovery.k8s.io": 16_200,
  "resource.k8s.io": 16_200,
  "flowcontrol.apiserver.k8s.io": 16_100,
};
const VERSION_PRIORITIES: Readonly<Record<string, number>> = {
  "/v1": 1,
  "autoscaling/v2": 30,
  "resource.k8s.io/v1": 21,
  "flowcontrol.apiserver.k8s.io/v1": 21,
};
const BUILT_IN_VERSION = 15;
/** Groups of CustomResourceDefinitions. */
const CUSTOM: Priority = { group: 1_000, version: 100 };

/** The priority of a version that the server itself serves. */
export function localPriority(group: string, version: string): Priority {
  const priority = Object.hasOwn(PRIORITIES, group) ? PRIORITIES[group] : undefined;
  if (priority === undefined) return CUSTOM;
  return { group: priority, version: VERSION_PRIORITIES[`${group}/${version}`] ?? BUILT_IN_VERSION };
}

/**
 * The APIService of a version that the server itself serves. `onstart`: it is part of the server; otherwise it is of a
 * CustomResourceDefinition, and removed with it.
 */
export function localApiService(group: string, version: string, isBuiltIn: boolean): APIService {
  const priority = localPriority(group, version);
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, labels: { [AUTOMANAGED]: isBuiltIn ? "onstart" : "true" } },
    spec: {
      group: group !== "" ? group : undefined,
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
    status: { conditions: [{ ...LOCALLY_AVAILABLE }] },
  };
}

export const LOCALLY_AVAILABLE = {
  type: "Available",
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const;
