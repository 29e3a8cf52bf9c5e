/**
 * The two kinds that the runtime itself writes. Declared here without schema and rules, so that it needs no package of
 * kinds.
 */
import { dynamicKind } from "../api/index.ts";
import type { EventFacts, Kind, LeaseFacts } from "../api/index.ts";

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
