/** Namespaces of the hub whose deletion does not end. Pure. */
import { findCondition, formatAge } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Namespace } from "@flotilla/kubernetes";

/** The conditions with what a Namespace that is being deleted waits for. */
const REMAINING = [
  "NamespaceFinalizersRemaining",
  "NamespaceContentRemaining",
  "NamespaceDeletionContentFailure",
  "NamespaceDeletionDiscoveryFailure",
  "NamespaceDeletionGroupVersionParsingFailure",
];
/** Its content needs a moment: pods end, and members confirm. */
const GRACE_MS = 60_000;

interface Said {
  readonly type: string;
  readonly status: string;
  readonly message?: string | undefined;
}

/** What is left in it, as sentences; empty if it does not say so. */
export function remainingIn(conditions: readonly Said[] | undefined): string {
  return REMAINING.flatMap((type) => findCondition(conditions, type) ?? [])
    .filter(({ status }) => status === "True")
    .map(({ message = "" }) => `${message.replace(/\.$/, "")}.`)
    .join(" ");
}

/** Undefined for one that is in use, or whose deletion may still end by itself. */
export function whyDeletionLasts(
  { metadata, status }: DeepReadonly<Pick<Namespace, "metadata" | "status">>,
  nowMs: number,
): string | undefined {
  const sinceMs = Date.parse(metadata.deletionTimestamp ?? "");
  if (!(nowMs - sinceMs > GRACE_MS)) return undefined;
  const remaining = remainingIn(status?.conditions);
  return `it has been deleting for ${formatAge(nowMs - sinceMs)}${remaining ? `: ${remaining}` : ";"} 'flotilla doctor --only finalizers' shows what holds it`;
}
