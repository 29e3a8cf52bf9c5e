/**
 * Lease: the holder of a lock and the time it was acquired or renewed; the heartbeat of nodes, clusters and leaders.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { Lease as LeaseFacts } from "@flotilla/apimachinery/facts/coordination-v1.ts";
import { checkNotNegative } from "@flotilla/apimachinery";
import { change } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { field } from "@flotilla/apimachinery";

export type Lease = LeaseFacts;

export const Lease: Kind<Lease> = builtInKind<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
  facts: "coordination-v1",
  columns: [nameColumn, column<Lease>("Holder", ({ spec }) => spec?.holderIdentity ?? ""), ageColumn],
  traits: { plainFinalizers: true, createOnUpdate: true, requiresVersion: true },
});

/** Coordinated leader election is off in a stock server, which drops its fields. */
function dropCoordination(lease: DeepReadonly<Lease>): DeepReadonly<Lease> {
  return change(lease, "spec", (spec) => {
    if (spec.strategy === undefined && spec.preferredHolder === undefined) return spec;
    const { strategy: _s, preferredHolder: _p, ...kept } = spec;
    return kept;
  });
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(Lease, "coordination-v1", {
    prepare: dropCoordination,
    validate({ object: { spec = {} } }) {
      const { leaseDurationSeconds, leaseTransitions } = spec;
      return [
        ...(leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0
          ? [field.invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0")]
          : []),
        ...checkNotNegative("spec.leaseTransitions", leaseTransitions),
      ];
    },
  }),
];
