/**
 * What a plan prints is what the members have afterwards: random histories of files, deletions, and members that leave,
 * join and get labels, each on a fleet of its own. The members' own objects are compared before and after an apply, value by
 * value, so a change that is printed and does not come fails as well as one that comes and is not printed.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import { FleetRollout } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runs, seedOr } from "@flotilla/testing/runs.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { mayChangeMembers, planInput } from "../../packages/cli/src/explain/plan-input.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";
import { changesSeen, mismatches, readObjects, titleOf } from "./plan-comparison.ts";
import type { Objects } from "./plan-comparison.ts";
import { FIRST, given, KINDS, MEMBERS, NAMESPACE, policy, WORK_OBJECT, ZONE } from "./plan-entries.ts";
import type { Entry } from "./plan-entries.ts";

const HISTORIES = runs(25);
const SEED = seedOr(17);
const SETTLED_MS = 60_000;
/** Autoscalers wait for five minutes before they scale down. */
const SCALED_MS = 360_000;
const { signal } = new AbortController();

type Step =
  | { do: "apply"; entries: Entry[] }
  /** Deletes the objects of some slots from the hub. */
  | { do: "delete"; which: number[] }
  | { do: "label"; member: string; zone: string | null }
  | { do: "leave"; member: string };

const file = fc.uniqueArray(given, { minLength: 1, maxLength: 7, selector: ({ slot }) => slot });
const applying = fc.record({ do: fc.constant("apply" as const), entries: file });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: applying },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("delete" as const),
      which: fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("label" as const),
      member: fc.constantFrom(...MEMBERS),
      zone: fc.constantFrom("x", "y", null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), member: fc.constantFrom(...MEMBERS) }) },
);
const history = fc
  .tuple(fc.array(policy, { minLength: 3, maxLength: 6 }), file, fc.array(step, { minLength: 2, maxLength: 6 }))
  .map(([policies, entries, more]): Step[] => {
    const first = new Map([...policies, ...entries, ...FIRST].map((each) => [each.slot, each] as const));
    return [{ do: "apply", entries: [...first.values()] }, ...more];
  });

test("the members' objects change as planned, and not otherwise", { timeout: 600_000 }, async () => {
  for (const [index, steps] of fc.sample(history, { seed: SEED, numRuns: HISTORIES }).entries())
    expect(await play(steps, `history ${index}`)).toBe(steps.length);
});

async function play(steps: readonly Step[], title: string): Promise<number> {
  const fleet = await startTestFleet({ members: MEMBERS, nodes: 1 });
  /** What was applied last, by slot. */
  const current = new Map<string, Entry>();
  try {
    for (const [index, each] of steps.entries()) {
      const where = `${title}, step ${index} (${each.do})`;
      if (each.do === "apply") {
        await planAndApply(fleet, each.entries, where, current);
        for (const entry of each.entries) current.set(entry.slot, entry);
        continue;
      }
      if (each.do === "delete") await remove(fleet, current, each.which);
      else if (each.do === "label") await label(fleet, each.member, each.zone);
      else await leaveAndJoin(fleet, each.member, where);
      // Everything once more: what others changed is planned as well.
      await planAndApply(fleet, [...current.values()], where, current);
    }
    return steps.length;
  } finally {
    await fleet.stop();
  }
}

/** Autoscalers act for minutes after the apply. */
const isScaling = (current: ReadonlyMap<string, Entry>): boolean =>
  [...current.keys()].some((slot) => /^(FederatedHPA|HorizontalPodAutoscaler) /.test(slot));

const manifestsOf = (entries: readonly Entry[]) => ({
  manifests: entries.map(({ object }) => object) as unknown as JsonObject[],
  without: [],
  namespace: NAMESPACE,
});

async function planAndApply(
  fleet: TestFleet,
  entries: readonly Entry[],
  where: string,
  current: ReadonlyMap<string, Entry>,
): Promise<void> {
  const input = manifestsOf(entries);
  if (isScaling(current)) await fleet.run(SCALED_MS);
  const before = await objectsOf(fleet);
  const plan = await planInput(fleet.client, input, fleet.clock, signal);
  await applyAll(fleet.client, input, { signal, whenRecorded: () => fleet.run(1_000) });
  await fleet.run(SETTLED_MS);
  const after = await objectsOf(fleet);

  const seen = changesSeen(before, after);
  const { hub: _hub, ...planned } = plan;
  const shown = `${where}: ${JSON.stringify({ manifests: input.manifests, seen: [...seen], ...planned })}`;
  const isUncertain = uncertainBy(plan, current);
  const wrong = await mismatches(plan, { client: fleet.client, before, after, seen, isUncertain });
  expect(wrong, shown).toEqual([]);
  // A release that waits changes its members later.
  const isReleased = plan.releases.some(({ waves }) => waves.some(({ clusters }) => clusters.length > 0));
  const isOpen =
    plan.changes.some(({ cluster, object }) => isUncertain(titleOf(cluster, object))) ||
    [...seen.keys()].some((title) => isUncertain(title));
  if (!isOpen) expect(mayChangeMembers(plan), shown).toBe(seen.size > 0 || isReleased || plan.unplanned.length > 0);
  const scaled = plan.notes.filter((note) => note.includes("FederatedHPA")).join("\n");
  for (const release of plan.releases) if (!scaled.includes(release.resource)) await expectWaves(fleet, release, shown);
  const again = await planInput(fleet.client, input, fleet.clock, signal);
  const isCertain = ({ object }: { object: PlanResult["changes"][number]["object"] }): boolean =>
    !isUncertain(titleOf("hub", object));
  expect({ again: [again.hub.filter(isCertain), again.changes.filter(isCertain)] }, shown).toEqual({ again: [[], []] });
}

interface Scaling {
  scaleTargetRef?: { kind: string; name: string };
}

/** The objects of which the plan itself says that it does not know how they end. */
function uncertainBy(
  { notes, changes, releases }: PlanResult,
  current: ReadonlyMap<string, Entry>,
): (title: string) => boolean {
  const all = notes.join("\n");
  const planned = new Set(changes.map(({ object }) => `${object.kind} ${object.name}`));
  const titles = new Set([
    // The next waves follow by themselves, unless a gate holds them.
    ...releases.map(({ resource }) => resource),
    ...[...all.matchAll(/^(\S+ \S+): FederatedHPA \S+ decides its replicas/gm)].map(([, title]) => title),
    ...[...all.matchAll(/^FederatedHPA \S+: the plan does not cover how it scales (\S+) (\S+)$/gm)].map(
      ([, kind, name]) => `${kind} ${NAMESPACE}/${name}`,
    ),
    // The other steps follow as members report.
    ...[...all.matchAll(/^(\S+ \S+): this is the first step/gm)].map(([, title]) => title),
    ...[...all.matchAll(/^(\S+ \S+): .* change together and select it/gm)].map(([, title]) => title),
    ...[...all.matchAll(/^(\S+ \S+): .* with the version before its change$/gm)].map(([, title]) => title),
    // Autoscalers that were applied before act by themselves.
    ...[...current.values()].flatMap(({ object }) => {
      const { scaleTargetRef: target } = (object as { spec?: Scaling }).spec ?? {};
      return target && !planned.has(`${target.kind} ${target.name}`)
        ? [`${target.kind} ${NAMESPACE}/${target.name}`]
        : [];
    }),
    ...changes.flatMap(({ cluster, object, note = "" }) => {
      const target = /it decides the replicas of (\S+) (\S+) there/.exec(note);
      if (target) return [`${cluster} ${target[1]} ${NAMESPACE}/${target[2]}`];
      const isLater = /spec\.replicas is left to|when the hub next changes the copy/.test(note);
      return isLater ? [titleOf(cluster, object)] : [];
    }),
  ]);
  const hasWorks = /: the plan does not cover the (ManifestWorks that follow|Placements that select)/.test(all);
  /** What a workload depends on follows it, and a Retain rule runs on all copies of its kind. */
  const hasConfigMaps = /with what it depends on|values that its Retain rule changes/.test(all);
  return (title) => {
    const object = title.slice(title.indexOf(" ") + 1);
    return (
      titles.has(object) ||
      titles.has(title) ||
      (hasConfigMaps && object.startsWith(`ConfigMap ${NAMESPACE}/`)) ||
      (hasWorks && object.startsWith(`ConfigMap default/${WORK_OBJECT}`))
    );
  };
}

const LISTED = [...KINDS.map(([apiVersion, kind]) => ({ apiVersion, kind })), { apiVersion: "v1", kind: "Namespace" }];

const objectsOf = ({ client }: TestFleet): Promise<Objects> =>
  readObjects(client, MEMBERS, LISTED, ({ kind, metadata: { namespace, name } }) =>
    kind === "Namespace"
      ? name === NAMESPACE
      : (namespace === NAMESPACE && name !== "kube-root-ca.crt") || name.startsWith(WORK_OBJECT),
  );

async function remove(
  { client, run }: TestFleet,
  current: Map<string, Entry>,
  which: readonly number[],
): Promise<void> {
  const kinds = createKindResolver({ client, cluster: "hub" });
  const fixed = new Set(FIRST.map(({ slot }) => slot));
  for (const index of which) {
    const left = [...current.keys()].filter((slot) => !fixed.has(slot));
    const slot = left[index % left.length];
    const entry = slot === undefined ? undefined : current.get(slot);
    if (slot === undefined || !entry) return;
    const { apiVersion, kind, metadata } = entry.object;
    current.delete(slot);
    await client.delete(await kinds.resolve({ apiVersion, kind }), {
      cluster: "hub",
      namespace: metadata.namespace,
      name: metadata.name,
    });
  }
  await run(SETTLED_MS);
}

async function label({ client, run }: TestFleet, member: string, zone: string | null): Promise<void> {
  const patch = { metadata: { labels: { [ZONE]: zone } } };
  await client.patch(Cluster, { cluster: "hub", name: member }, patch, { type: "merge" });
  await run(SETTLED_MS);
}

/** The others get what the plan without the member says; then it joins again. */
async function leaveAndJoin(fleet: TestFleet, member: string, where: string): Promise<void> {
  const before = await objectsOf(fleet);
  const plan = await planInput(fleet.client, { ...manifestsOf([]), without: [member] }, fleet.clock, signal);
  await fleet.client.delete(Cluster, { cluster: "hub", name: member });
  await fleet.run(SETTLED_MS);
  const after = await objectsOf(fleet);
  const isOther = (title: string): boolean => !title.startsWith(`${member} `);
  const others = (objects: Objects): Objects => new Map([...objects].filter(([title]) => isOther(title)));
  const changes = plan.changes.filter(({ cluster }) => cluster !== member);
  const seen = changesSeen(others(before), others(after));
  const wrong = await mismatches({ changes }, { client: fleet.client, before, after, seen });
  expect(wrong, `${where}: ${JSON.stringify(plan)}`).toEqual([]);
  await fleet.hub.addMembers([member], (name) => `https://${name}.example.com`, signal);
  await fleet.run(SETTLED_MS);
}

async function expectWaves(
  { client }: TestFleet,
  { resource, waves }: PlanResult["releases"][number],
  shown: string,
): Promise<void> {
  const { items } = await client.list(FleetRollout, { cluster: "hub", namespace: NAMESPACE });
  const own = items
    .filter(({ spec: { target } }) => resource === `${target.kind} ${NAMESPACE}/${target.name}`)
    .toSorted((a, b) => b.spec.number - a.spec.number)[0];
  const recorded = (own?.status?.plan ?? []).map((wave) => [wave.name, wave.updated, wave.clusters]);
  expect(recorded, shown).toEqual(waves.map((wave) => [wave.name, wave.updated, wave.clusters]));
}
