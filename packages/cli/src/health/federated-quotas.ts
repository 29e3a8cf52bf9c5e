/** What FederatedResourceQuotas report: what their namespace uses, and where they have no effect. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { FederatedResourceQuota } from "@flotilla/karmada";
import { exceeding, readAmounts } from "@flotilla/kubernetes";
import { uncountedKeys, uncountedText } from "@flotilla/flotilla";
import { nameMembers } from "./name-members.ts";

type Quota = DeepReadonly<FederatedResourceQuota>;

/** `cpu 1500m of 2` */
function usageTexts({ spec, status }: Quota, names: Iterable<string> = Object.keys(spec.overall)): string[] {
  return [...names].map((name) => `${name} ${status?.overallUsed?.[name] ?? "0"} of ${spec.overall[name] ?? "none"}`);
}

export interface QuotaReport {
  problem: "quota exceeded" | "quota without effect";
  what: string;
  try: string;
}

/** `isMember` is unset if the members are not known. */
export function reportQuota(quota: Quota, isMember?: (name: string) => boolean): QuotaReport[] {
  const { metadata, spec, status } = quota;
  if (metadata.deletionTimestamp !== undefined) return [];
  const over = exceeding(readAmounts(status?.overallUsed), readAmounts(spec.overall));
  const lost = isMember
    ? (spec.staticAssignments ?? []).map(({ clusterName }) => clusterName).filter((name) => !isMember(name))
    : [];
  return [
    ...(over.size > 0
      ? [
          {
            problem: "quota exceeded" as const,
            what: `its namespace uses more than it allows: ${usageTexts(quota, over).join(", ")}; what runs stays, and nothing is added`,
            try: "raise spec.overall, or scale workloads of the namespace down",
          },
        ]
      : []),
    ...uncountedKeys(spec)
      // Members enforce the others.
      .filter(({ isAssigned }) => !isAssigned)
      .map((uncounted) => ({ problem: "quota without effect" as const, ...uncountedText(uncounted) })),
    ...(lost.length > 0
      ? [
          {
            problem: "quota without effect" as const,
            what: `it assigns a part to ${nameMembers(lost)}, which ${lost.length === 1 ? "is not a member" : "are not members"}`,
            try: "correct spec.staticAssignments, or join the clusters",
          },
        ]
      : []),
  ];
}

export const describeQuota = (quota: Quota): string =>
  `FederatedResourceQuota ${quota.metadata.name}: ${usageTexts(quota).join(", ")} used by the namespace`;
