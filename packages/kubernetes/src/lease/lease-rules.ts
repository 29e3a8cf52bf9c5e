/** Defaults and validation of Lease. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, checkNotNegative, field } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { Lease } from "./lease-kind.ts";

/** Coordinated leader election is off in a stock server, which drops its fields. */
function dropCoordination(lease: DeepReadonly<Lease>): DeepReadonly<Lease> {
  return change(lease, "spec", (spec) => {
    if (spec.strategy === undefined && spec.preferredHolder === undefined) return spec;
    const { strategy: _s, preferredHolder: _p, ...kept } = spec;
    return kept;
  });
}

export const rules: AnyAdmission[] = [
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
