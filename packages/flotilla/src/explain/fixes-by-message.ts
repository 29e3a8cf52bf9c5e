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
