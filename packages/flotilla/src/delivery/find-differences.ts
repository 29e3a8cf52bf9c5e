/** Compares an object on a member with its desired state, and remembers what is in place. */
import { equalJson } from "@flotilla/base";
import { holdsIn } from "./matches-desired.ts";
import type { ApplyPolicy } from "./delivery.ts";
import { findDrift } from "./drift.ts";
import type { FieldDrift } from "./drift.ts";
import { digestOf, isSameDelivery } from "./marks.ts";
import { keyIn } from "./member-access.ts";
import type { Manifest, MemberAccess, Task } from "./member-access.ts";

/** `settled` when there is nothing to do; otherwise the fields changed on the member, possibly none. */
export function findDifferences(
  access: MemberAccess,
  { kind, policy, ownership }: Task,
  desired: Manifest,
  observed: Manifest,
): FieldDrift[] | "settled" {
  const { generation } = observed.metadata;
  // A field comparison misses owner references, and maps with extra entries.
  if (ownership.missingReferences(observed) || hasExtraEntries(desired, observed, policy)) return [];
  const key = keyIn(access, observed.metadata);
  const { settled } = access.observer;
  const last = settled.get(kind, key);
  // Only metadata and status changed since then.
  const isQuiet =
    generation !== undefined && last?.generation === generation && holdsIn(desired.metadata, observed.metadata);
  if (isSameDelivery(desired, observed)) {
    if (isQuiet && last?.found === desired) return "settled";
    if (holdsIn(desired, observed)) {
      settled.set(kind, key, { generation, found: desired });
      return "settled";
    }
  } else if (policy.drift !== "report" || !ownership.hasDelivered(observed)) return [];
  const drift = findDrift(desired, observed, observed.metadata.managedFields ?? [], policy.fieldManager).filter(
    ({ steps }) => !isIgnored(steps, policy),
  );
  if (!isSameDelivery(desired, observed)) return drift;
  const isWritten = policy.drift !== "report" && isQuiet && last?.written === digestOf(desired);
  return drift.length === 0 || isWritten ? "settled" : drift;
}

function hasExtraEntries(desired: Manifest, observed: Manifest, { exact = [] }: ApplyPolicy): boolean {
  const fieldOf = (object: Manifest, field: string): unknown =>
    (object as unknown as Record<string, unknown>)[field] ?? {};
  return exact.some((field) => !equalJson(fieldOf(desired, field), fieldOf(observed, field)));
}

function isIgnored(steps: readonly string[], { ignoreFields = [] }: ApplyPolicy): boolean {
  const path = steps.map((step) => step.slice("f:".length)).join(".");
  return ignoreFields.some((ignored) => path === ignored || path.startsWith(`${ignored}.`));
}
