/**
 * Finds the limits of a FederatedResourceQuota that count nothing. The hub counts what pods request, by the names of
 * `resources.requests`, as Karmada does. A ResourceQuota has more names, such as `requests.cpu` and `pods`: these limit
 * only the members that a static assignment gives them to. Pure.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { FederatedResourceQuota } from "@flotilla/karmada";

const REQUESTS = "requests.";
/** What a container may request without a domain in the name. */
const REQUESTED: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

export interface UncountedKey {
  key: string;
  /** The key that counts what this one means, if there is one. */
  counted: string | undefined;
  /** Members enforce it in their ResourceQuotas. */
  isAssigned: boolean;
}

export function uncountedKeys({
  overall,
  staticAssignments,
}: DeepReadonly<FederatedResourceQuota>["spec"]): UncountedKey[] {
  return Object.keys(overall)
    .filter((key) => !isRequested(key))
    .map((key) => {
      const plain = key.startsWith(REQUESTS) ? key.slice(REQUESTS.length) : "";
      return {
        key,
        counted: isRequested(plain) ? plain : undefined,
        isAssigned: staticAssignments?.some(({ hard }) => Object.hasOwn(hard, key)) ?? false,
      };
    });
}

/** `the hub counts nothing under requests.cpu, so …; use cpu`: what is wrong, and what to do. */
export function uncountedText({ key, counted, isAssigned }: UncountedKey): { what: string; try: string } {
  const effect = isAssigned
    ? "it limits only the members of staticAssignments that have it"
    : "its use stays 0, and it never rejects anything";
  return {
    what: `the hub counts the requests of pods by their resource names, and nothing as ${key}: ${effect}`,
    try:
      counted === undefined
        ? "limit resources that pods request, such as cpu and memory; ResourceQuotas on members limit the others"
        : `use ${counted}`,
  };
}

function isRequested(name: string): boolean {
  const [domain = "", resource] = name.split("/");
  if (resource === undefined) return REQUESTED.has(name) || name.startsWith("hugepages-");
  return domain !== "count" && !domain.startsWith(REQUESTS) && !domain.startsWith("limits.");
}
