/**
 * What keeps a plan from being carried out now: members that do not respond, and controllers that do not run. The hub
 * marks a member as not ready only after a delay; users should know while planning.
 */
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { missingControllers } from "../health/controllers-state.ts";
import type { ControllersQuestion } from "../health/controllers-state.ts";
import { nameMembers } from "../health/name-members.ts";
import { ask } from "../members/ask.ts";
import { askEach } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import type { Output } from "../output.ts";
import type { PlanResult } from "./plan-input.ts";

/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;

/** The plan with its unreachable members; members in `without` are skipped, because the plan excludes them anyway. */
export async function withUnreachable(
  plan: PlanResult,
  without: readonly string[],
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<PlanResult> {
  // The first step of a release leaves out the members that are known to be away.
  const inReleases = plan.releases.flatMap(({ waves }) => waves.flatMap(({ clusters }) => clusters));
  const changed = new Set(
    [...plan.changes.map(({ cluster }) => cluster), ...inReleases].filter((cluster) => !without.includes(cluster)),
  );
  const places =
    changed.size === 0 ? [] : (await findPlaces(client, [], signal)).filter(({ name }) => changed.has(name));
  // The hub may be unable to reach pull-mode members; their reported status is all there is.
  const isPull = ({ mode }: Place): boolean => mode === "pull";
  const asked = await askEach(
    places.filter((place) => !isPull(place)),
    signal,
    (place) => ask({ client, clock, responseTimeoutMs: TIMEOUT_MS, signal }, place, "/version"),
  );
  const away = asked.failures.filter(({ isAway }) => isAway);
  const silent = away.map(({ place, reason }) => ({ cluster: place.name, reason }));
  const unnoticed = away.flatMap(({ place }) => (place.unready === undefined ? [place.name] : []));
  const unresponsive = places
    .filter(isPull)
    .flatMap(({ name, unready }) => (unready === undefined ? [] : [{ cluster: name, reason: unready }]));
  const unreachable = [...silent, ...unresponsive];
  if (unreachable.length === 0) return plan;
  const notes = unnoticed.length === 0 ? plan.notes : [...plan.notes, unnoticedText(unnoticed)];
  return { ...plan, notes, unreachable };
}

/** What is planned with the hub's view of the members, which is older than this look at them. */
const unnoticedText = (names: readonly string[]): string =>
  `the hub has not noticed yet that ${nameMembers(names)} ${names.length === 1 ? "does" : "do"} not respond: ` +
  "once it has, other members may get larger parts of a partition or a budget than shown";

/** A plan says what controllers would do; where none run, nothing reaches the members. */
export async function warnOfMissingControllers(
  { changes }: Pick<PlanResult, "changes">,
  question: ControllersQuestion,
  output: Pick<Output, "warn">,
): Promise<void> {
  if (changes.length === 0) return;
  const missing = await missingControllers(question);
  if (missing !== undefined) output.warn(`these changes wait: ${missing}`);
}
