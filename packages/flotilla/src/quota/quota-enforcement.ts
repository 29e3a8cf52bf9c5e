/**
 * Admission of bindings against the FederatedResourceQuotas of their namespace: what a placement adds is charged to
 * `status.overallUsed` with compare-and-set before the binding is stored, so the quota holds for any number of
 * schedulers and API servers. What a placement gives back is released by the quota controller, after it was stored.
 */
import { ApiError, formatQuantity } from "@flotilla/apimachinery";
import type { AdmissionStep, Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import {
  addAmounts,
  chargeQuotas,
  exceeding,
  onlyAmounts,
  readAmounts,
  subtractAmounts,
  withoutZeros,
  writeAmounts,
} from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { usageOfBinding } from "./binding-usage.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;

/** Karmada's reason of the rejection, which is also that of the condition Scheduled. */
const QUOTA_EXCEEDED = "QuotaExceeded";

export function federatedQuotaEnforcement(hub: string): AdmissionStep<ResourceBinding> {
  return {
    name: "FederatedResourceQuota",
    for: ResourceBinding,
    on: ["CREATE", "UPDATE"],
    matches: ({ cluster, subresource }) => cluster === hub && subresource === undefined,
    // A dry run reserves nothing, but is rejected like a real request.
    check(request) {
      if (!request.dryRun) return;
      for (const [quota, charge] of chargesOf(request)) charged(quota, charge);
    },
    reserve: (request, write) =>
      chargeQuotas<FederatedResourceQuota>(
        { kind: FederatedResourceQuota, charges: chargesOf(request), charged, released },
        write,
      ),
  };
}

/** What the placement adds, for each quota that limits some of it. */
function chargesOf({ object, oldObject, namespace, read }: Review<ResourceBinding>): [Quota, Amounts][] {
  if (oldObject && usesSame(oldObject, object)) return [];
  const usage = usageOfBinding(object);
  // Never below zero: only growth is charged here.
  const added = withoutZeros(oldObject ? subtractAmounts(usage, usageOfBinding(oldObject)) : usage);
  if (added.size === 0) return [];
  return read.list(FederatedResourceQuota, namespace).flatMap((quota): [Quota, Amounts][] => {
    const charge = onlyAmounts(added, new Set(Object.keys(quota.spec.overall)));
    return charge.size === 0 ? [] : [[quota, charge]];
  });
}

const usesSame = (a: DeepReadonly<ResourceBinding>, b: DeepReadonly<ResourceBinding>): boolean =>
  a.spec.clusters === b.spec.clusters &&
  a.spec.replicaRequirements === b.spec.replicaRequirements &&
  a.spec.components === b.spec.components;

function charged({ metadata, spec, status }: Quota, charge: Amounts): object {
  const { namespace = "", name } = metadata;
  if (!status?.overallUsed)
    throw quotaExceeded(
      `FederatedResourceQuota(${namespace}/${name}): its usage is not known yet; it is counted when the hub's controllers run`,
    );
  const next = addAmounts(readAmounts(status.overallUsed), charge);
  const overall = readAmounts(spec.overall);
  const [resource] = exceeding(onlyAmounts(next, new Set(charge.keys())), overall);
  if (resource !== undefined) {
    const shown = (amounts: Amounts): string => {
      const amount = amounts.get(resource);
      return amount ? formatQuantity(amount) : "0";
    };
    throw quotaExceeded(
      `FederatedResourceQuota(${namespace}/${name}) exceeded for resource ${resource}: requested sum ${shown(next)}, limit ${shown(overall)}.`,
    );
  }
  return { ...status, overallUsed: writeAmounts(next) };
}

const released = ({ status }: Quota, charge: Amounts): object => ({
  ...status,
  overallUsed: writeAmounts(subtractAmounts(readAmounts(status?.overallUsed), charge)),
});

/** As Karmada's webhook answers. */
function quotaExceeded(message: string): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `admission webhook "resourcebinding.karmada.io" denied the request: ${message}`,
    reason: QUOTA_EXCEEDED,
    code: 403,
  });
}

/** The rejection by a quota; undefined for other errors. */
export function quotaRejection(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.status.reason !== QUOTA_EXCEEDED) return undefined;
  return error.status.message?.replace(/^admission webhook "[^"]*" denied the request: /, "");
}
