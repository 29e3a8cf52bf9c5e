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
const WEBHOOK_DENIAL = /webhook "([^"\s]{1,253})" denied the request/;
const WEBHOOK = /webhook "([^"\s]{1,253})"/;
const OBJECT_QUOTA = /exceeded quota: ([^,\s]{1,253})/;
const NO_RIGHT = /User "([^"\s]{1,253})" cannot ([a-z]{1,20}) resource "([^"\s]{1,253})"/;
const TOO_LARGE = /\b(?:Request entity too large|request is too large)\b/;

const HUB_REJECTIONS: readonly { said: RegExp; fix: (names: readonly string[]) => string }[] = [
  {
    said: ADMISSION_POLICY,
    fix: ([policy]) =>
      `change ValidatingAdmissionPolicy ${policy} of the hub or its binding, so that it allows the write ` +
      `('kubectl get validatingadmissionpolicy ${policy} -o yaml' shows it)`,
  },
  {
    said: WEBHOOK_DENIAL,
    fix: ([webhook]) =>
      `change what webhook ${webhook} of the hub denies, or its configuration, so that it allows the write (${LIST_WEBHOOKS})`,
  },
  {
    said: WEBHOOK,
    fix: ([webhook]) =>
      `start the server of webhook ${webhook}, or correct its configuration on the hub (${LIST_WEBHOOKS})`,
  },
  {
    said: OBJECT_QUOTA,
    fix: ([quota]) => `raise or delete ResourceQuota ${quota} in the namespace of the object on the hub`,
  },
  {
    said: NO_RIGHT,
    fix: ([user, verb, resource]) =>
      `let user ${user} ${verb} ${resource} on the hub, with a ClusterRole and a ClusterRoleBinding`,
  },
  {
    said: TOO_LARGE,
    fix: () => "make the template smaller, such as by moving data into ConfigMaps that it names",
  },
];
const LIST_WEBHOOKS =
  "'kubectl get validatingwebhookconfigurations' and 'kubectl get mutatingwebhookconfigurations' list them";

/** What to do about the hub's own API server, which does not store what the hub decided. */
export function fixForHubRejection(message: string): string {
  for (const { said, fix } of HUB_REJECTIONS) {
    const found = said.exec(message);
    if (found) return `${fix(found.slice(1))}; ${RETRIES}`;
  }
  return `remove the cause on the hub, whose API server does not store the write; ${RETRIES}`;
}

const RETRIES = "the hub retries within a minute";
