/**
 * Shows a plan as it ends on members that already have an object of that name: one that Flotilla did not create stays,
 * unless the policy lets the hub take it over.
 */
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { mayCollide, planExisting } from "@flotilla/flotilla";
import type { MemberChange, PlannedWorks } from "@flotilla/flotilla";
import { nameMembers } from "../health/name-members.ts";
import type { PlanChanges } from "./own-changes.ts";
import { readMemberObjects } from "./read-member-objects.ts";

export async function withExisting(
  plan: PlannedWorks,
  planned: PlanChanges,
  deps: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<PlanChanges & { notes: string[] }> {
  const { found, unread } = await readMemberObjects(
    deps,
    planned.changes.filter((change) => mayCollide(plan, change)),
  );
  const notes: string[] = [];
  /** The changes that do not happen, by what the members keep. */
  const idle = new Map<string, MemberChange[]>();
  const problems = [...planned.problems];
  const changes = planned.changes.flatMap((change) => {
    const observed = found.get(change);
    if (!observed) return [change];
    const ended = planExisting(plan, change, observed);
    if (ended.outcome === "change") return [ended.change];
    if (ended.outcome === "none") idle.set(ended.kept, [...(idle.get(ended.kept) ?? []), change]);
    else problems.push({ resource: titleOf(change), message: ended.message });
    return [];
  });
  for (const [kept, left] of idle) notes.push(...renderIdle(kept, left));
  for (const [cluster, left] of unread)
    notes.push(
      `${cluster}: not checked whether it already has ${listOf(left.changes)} from another owner: ${left.reason}`,
    );
  return { changes, problems, notes };
}

/** Members that keep the same are named together. */
function renderIdle(kept: string, changes: readonly MemberChange[]): string[] {
  const ofMembers = [...Map.groupBy(changes, ({ cluster }) => cluster)];
  const alike = Map.groupBy(ofMembers, ([, left]) => listOf(left));
  return Array.from(
    alike,
    ([what, members]) =>
      `${what}: ${nameMembers(members.map(([cluster]) => cluster))} ${members.length === 1 ? "keeps" : "keep"} ${kept}`,
  );
}

function listOf([first, ...others]: readonly MemberChange[]): string {
  const title = first ? titleOf(first) : "";
  if (others.length === 0) return title;
  return `${title} and ${others.length} other object${others.length === 1 ? "" : "s"}`;
}

const titleOf = ({ object: { kind, namespace, name } }: MemberChange): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
