/**
 * The two kinds that the runtime itself writes. Declared here without schema and rules, so that it needs no package of
 * kinds.
 */
import { dynamicKind } from "@flotilla/apimachinery";
import type { Event as EventFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import type { Lease as LeaseFacts } from "@flotilla/apimachinery/facts/coordination-v1.ts";

export type Event = EventFacts;
export type Lease = LeaseFacts;

export const Event = dynamicKind({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
}) as unknown as Kind<Event>;

export const Lease = dynamicKind({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
}) as unknown as Kind<Lease>;
