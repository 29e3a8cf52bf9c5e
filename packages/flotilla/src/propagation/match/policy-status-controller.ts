/**
 * Maintains the status of policies: their objects, their clusters, and problems.
 *
 * Reads: the policy and, through the tally, the bindings that carry its claim.
 * Writes: the policy's status, at most once per policy and period regardless of the number of changes.
 */
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { defineController, done, keyOf } from "@flotilla/controller-runtime";
import type { Controller, Informer, StatusWriter } from "@flotilla/controller-runtime";
import type { ObjectKey } from "@flotilla/client";
import type { Policy } from "./plan-match.ts";
import { planPolicyStatus } from "./plan-policy-status.ts";
import { policyIdOf } from "./policy-tally.ts";
import type { PolicyTally } from "./policy-tally.ts";

type AnyPolicy = PropagationPolicy | ClusterPropagationPolicy;

export interface PolicyStatusDependencies<T extends AnyPolicy> {
  hub: string;
  kind: Kind<T>;
  policies: Informer<T>;
  tally: Pick<PolicyTally, "read" | "onChange">;
  policyStatus: StatusWriter<T>;
  clock: Clock;
}

/** Debounce interval: long enough for a new object to be scheduled, applied and reported in one write of its policy. */
const DEBOUNCE_MS = 2_000;
const BY_ID = "permanent id";

export function createPolicyStatusController<T extends AnyPolicy>({
  hub,
  kind,
  policies,
  tally,
  policyStatus,
  clock,
}: PolicyStatusDependencies<T>): Controller<ObjectKey> {
  policies.addIndex(BY_ID, (policy) => [policyIdOf((policy as AnyPolicy).metadata.labels) ?? []].flat());
  return defineController<T>({
    name: `status-of-${kind.plural}`,
    for: kind,
    watches: [
      {
        source: {
          start(enqueue, signal) {
            tally.onChange((policyId) => {
              if (!signal.aborted) for (const policy of policies.by(BY_ID, policyId)) enqueue(keyOf(hub, policy));
            });
          },
          isQuiet: () => true, // The bindings' informers report pending work.
        },
      },
    ],
    writes: [kind],

    async reconcile(policy, { key }) {
      const id = policyIdOf((policy as AnyPolicy).metadata.labels);
      if (id === undefined || (policy as AnyPolicy).metadata.deletionTimestamp) return done;
      const plan = (newest: DeepReadonly<T>): DeepReadonly<T> =>
        planPolicyStatus<Policy>(newest, tally.read(id), formatTime(clock.now())) as DeepReadonly<T>;
      if (plan(policy) === policy) return done;
      // The totals are read at write time, so intermediate changes cost nothing.
      policyStatus.set(key, "match", plan, { debounceMs: DEBOUNCE_MS });
      return done;
    },
  });
}
