/** Lease: who holds something, and since when; the heartbeat of nodes, clusters and leaders. */
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Lease as LeaseFacts } from "../facts/coordination-v1.ts";
import { checkNotNegative, wrong } from "../field-errors.ts";
import type { Kind } from "../kind.ts";

export type Lease = LeaseFacts;

export const Lease: Kind<Lease> = builtInKind<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  scope: "Namespaced",
  facts: "coordination-v1",
  columns: [nameColumn, column<Lease>("Holder", ({ spec }) => spec?.holderIdentity ?? ""), ageColumn],
});

export const admissions: AnyAdmission[] = [
  builtInAdmission(Lease, "coordination-v1", {
    validate({ object: { spec = {} } }) {
      const { leaseDurationSeconds, leaseTransitions } = spec;
      return [
        ...(leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0 ? [wrong("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0")] : []),
        ...checkNotNegative("spec.leaseTransitions", leaseTransitions),
      ];
    },
  }),
];
