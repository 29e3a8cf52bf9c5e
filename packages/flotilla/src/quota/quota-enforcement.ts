/**
 * Admission of bindings against the FederatedResourceQuotas of their namespace: what a placement adds is charged to
 * `status.overallUsed` with compare-and-set before the binding is stored, so the quota holds for any number of
 * schedulers and API servers. What a placement gives back is released by the quota controller, after it was stored.
 */
import { ApiError } from "@flotilla/apimachinery";
import type { AdmissionStep, Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { addAmounts, chargeQuotas, readAmounts, subtractAmounts, writeAmounts } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { chargesOf, growthOf, QUOTA_EXCEEDED, whyNoRoom } from "./quota-charge.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;

export function federatedQuotaEnforcement(hub: string): AdmissionStep<ResourceBinding> {
  return {
    name: "FederatedResourceQuota",
    for: ResourceBinding,
    on: ["CREATE", "UPDATE"],
    matches: ({ cluster, subresource }) => cluster === hub && subresource === undefined,
    // A dry run reserves nothing, but is rejected like a real request.
    check(request) {
      if (!request.dryRun) return;
      for (const [quota, charge] of chargesIn(request)) charged(quota, charge);
    },
    reserve: (request, write) =>
      chargeQuotas<FederatedResourceQuota>(
        { kind: FederatedResourceQuota, charges: chargesIn(request), charged, released },
        write,
      ),
  };
}

/** What the placement adds, for each quota that limits some of it. */
function chargesIn({ object, oldObject, namespace, read }: Review<ResourceBinding>): [Quota, Amounts][] {
  const growth = growthOf(oldObject, object);
  return growth.size === 0 ? [] : chargesOf(read.list(FederatedResourceQuota, namespace), growth);
}

function charged(quota: Quota, charge: Amounts): object {
  const { metadata, status } = quota;
  if (!status?.overallUsed)
    throw quotaExceeded(
      `FederatedResourceQuota(${metadata.namespace ?? ""}/${metadata.name}): its usage is not known yet; it is counted when the hub's controllers run`,
    );
  const used = readAmounts(status.overallUsed);
  const full = whyNoRoom(quota, used, charge);
  if (full !== undefined) throw quotaExceeded(full);
  return { ...status, overallUsed: writeAmounts(addAmounts(used, charge)) };
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
