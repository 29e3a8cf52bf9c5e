/**
 * Lease: the holder of a lock and the time it was acquired or renewed; the heartbeat of nodes, clusters and leaders.
 */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Lease as LeaseFacts } from "@flotilla/apimachinery/facts/coordination-v1.ts";

export type Lease = LeaseFacts;

export const Lease: Kind<Lease> = builtInKind<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
  facts: "coordination-v1",
  columns: [nameColumn, column<Lease>("Holder", ({ spec }) => spec?.holderIdentity ?? ""), ageColumn],
  traits: { untrackedByControllers: "others", plainFinalizers: true, createOnUpdate: true, requiresVersion: true },
});
