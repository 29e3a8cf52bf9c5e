/** What to do about a message of the scheduler or of admission, found by its words. Pure. */

const EXCEEDED_QUOTA = /^FederatedResourceQuota\(([^)]+)\) exceeded for resource ([^:]+):/;

export function fixForQuota(message: string): string | undefined {
  const [, quota, resource] = EXCEEDED_QUOTA.exec(message) ?? [];
  return quota === undefined
    ? undefined
    : `raise ${resource ?? ""} in spec.overall of FederatedResourceQuota ${quota}, or ask for less: the replicas that are placed stay`;
}

/** What to do about a spread constraint that asks for more groups than there are. */
export function fixForSpread(message: string): string | undefined {
  const [, required, found] = /spreadConstraint.*\((\d+) required, (\d+) found/.exec(message) ?? [];
  if (required === undefined || found === undefined) return undefined;
  const lacking = Number(required) - Number(found);
  return (
    "lower minGroups of the spread constraint to " +
    `${found}${found === "0" ? " and select other clusters" : ""}, or let the placement select clusters of ` +
    `${lacking} more group${lacking === 1 ? "" : "s"}`
  );
}

/** Messages of Kubernetes' API server and of ours. */
const ADMISSION_POLICY = /ValidatingAdmissionPolicy '([^']{1,253})'/;
const WEBHOOK = /webhook "([^"\s]{1,253})"/;
const OBJECT_QUOTA = /exceeded quota: ([^,\s]{1,253})/;

/** What to do about the hub's own API server, which does not store what the hub decided. */
export function fixForHubRejection(message: string): string {
  const [, policy] = ADMISSION_POLICY.exec(message) ?? [];
  const [, webhook] = WEBHOOK.exec(message) ?? [];
  const [, quota] = OBJECT_QUOTA.exec(message) ?? [];
  const cause =
    policy !== undefined
      ? `change ValidatingAdmissionPolicy ${policy} of the hub or its binding, so that it allows the write ` +
        `('kubectl get validatingadmissionpolicy ${policy} -o yaml' shows it)`
      : webhook !== undefined
        ? `start the server of webhook ${webhook}, or correct its configuration on the hub ('kubectl get ` +
          "validatingwebhookconfigurations' and 'kubectl get mutatingwebhookconfigurations' list them)"
        : quota !== undefined
          ? `raise or delete ResourceQuota ${quota} in the namespace of the object on the hub`
          : "remove what rejects the write on the hub";
  return `${cause}; the hub retries within a minute`;
}
