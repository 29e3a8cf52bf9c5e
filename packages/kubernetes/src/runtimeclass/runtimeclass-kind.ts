/** RuntimeClass: the container runtime of a pod, its overhead, and the nodes that support it. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { RuntimeClass as RuntimeClassFacts } from "@flotilla/apimachinery/facts/node-v1.ts";

export type RuntimeClass = RuntimeClassFacts;

export const RuntimeClass: Kind<RuntimeClass> = builtInKind<RuntimeClass>({
  group: "node.k8s.io",
  version: "v1",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  scope: "Cluster",
  facts: "node-v1",
  columns: [nameColumn, column<RuntimeClass>("Handler", ({ handler }) => handler), ageColumn],
  traits: {
    plainFinalizers: true,
    createOnUpdate: true,
    requiresVersion: true,
    metadataChecks: { update: true, create: true },
  },
});
