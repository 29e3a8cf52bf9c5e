/**
 * Releases by partition with any combination of users' rules, sound and unsound: no template is sent back and forth, no more
 * pods get the release than asked, and whatever is not as asked is named by `flotilla why` and `status`.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RolloutStrategy } from "@flotilla/flotilla";
import { CloneSet } from "@flotilla/openkruise";
import { runs } from "@flotilla/testing/runs.ts";
import type { FleetStatus } from "../../packages/cli/src/status/fleet-status.ts";
import { hasProblems, problemsOfStatus } from "./health-fleet.ts";
import { runCommand } from "./run-command.ts";
import { CATALOG, customizationsOf, NAMES, QUARANTINE, ruleOf } from "./rules-catalog.ts";
import type { Names } from "./rules-catalog.ts";
import { startRulesFleet } from "./rules-fleet.ts";

const RUNS = runs(10);
const SETTLED_MS = 30_000;
/** A copy may be unhealthy for some minutes before that counts as a problem. */
const LASTING_MS = 900_000;

type Step =
  | { do: "image" | "partition"; partition: number }
  | { do: "scale"; replicas: number }
  | { do: "rules"; names: Names }
  | { do: "no rules" };

/** Most operations have no rule of the user: otherwise nearly every set has a rule that stops everything. */
const rules: fc.Arbitrary<Names> = fc.record(
  Object.fromEntries(
    Object.entries(CATALOG).map(([operation, given]) => [
      operation,
      fc.oneof(
        { weight: 1, arbitrary: fc.constant("none") },
        { weight: 1, arbitrary: fc.constantFrom(...Object.keys(given)) },
      ),
    ]),
  ),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("image" as const), partition: fc.integer({ min: 1, max: 10 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("partition" as const), partition: fc.integer({ min: 1, max: 10 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("scale" as const), replicas: fc.integer({ min: 6, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rules" as const), names: rules }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "no rules" }) },
);

test("with any rules, a release reaches no more pods than requested, sends no template back and forth, and names what is wrong", async () => {
  const property = fc.asyncProperty(
    rules,
    fc.integer({ min: 1, max: 10 }),
    fc.array(step, { maxLength: 2 }),
    (first, partition, more) => play(first, [{ do: "image", partition }, ...more]),
  );

  const examples: [Names, number, Step[]][] = [
    // Seeds once found these: a release that a rule kept from the members, changed meanwhile, began with a step back;
    ...["nothing", "a constant"].map((rule): [Names, number, Step[]] => [
      { retain: rule },
      1,
      [{ do: "partition", partition: 3 }, { do: "no rules" }],
    ]),
    // members without pods had completed the release for OpenKruise, and started all pods with it.
    [{ replicas: "none at all" }, 1, [{ do: "no rules" }]],
    // A failing rule held back a smaller number of replicas, whose updated pods go when the rule does.
    [{ replicas: "an endless count" }, 1, [{ do: "scale", replicas: 6 }, { do: "no rules" }]],
  ];
  await expect(fc.assert(property, { numRuns: RUNS, examples })).resolves.toBeUndefined();
});

test("with any rules, a release in waves updates no more pods than its first wave has, and names what is wrong", async () => {
  const property = fc.asyncProperty(rules, fc.integer({ min: 1, max: 9 }), playWaves);

  await expect(fc.assert(property, { numRuns: Math.ceil(RUNS / 2) })).resolves.toBeUndefined();
});

test("every unsound rule is named with what is wrong by status and why, and no sound rule is", async () => {
  const property = fc.asyncProperty(rules, nameRules);

  // Seeds once found these: members to which a failing rule keeps the copy report without the counters as well; without
  // replicas the health rule of the guide is right to say that the set is not healthy.
  const examples: [Names][] = [
    [{ reflect: "empty", retain: "throws" }],
    [{ replicas: "none at all", health: "guide" }],
  ];
  await expect(fc.assert(property, { numRuns: RUNS, examples })).resolves.toBeUndefined();
});

/** Without the advice. */
function problemsOfWhy(text: string): string[] {
  const lines = text.split("\n");
  const start = lines.indexOf("PROBLEMS");
  return lines.slice(start + 1, lines.indexOf("", start)).filter((line) => !line.trim().startsWith("→"));
}

async function nameRules(names: Names): Promise<void> {
  const fleet = await startRulesFleet({ quarantine: QUARANTINE });
  // Dependencies are interpreted if they are propagated only.
  await fleet.touchPolicy();
  await fleet.customize(customizationsOf(names));
  await fleet.release({ image: "web:2", partition: 4 });
  await fleet.run(LASTING_MS);

  const why = problemsOfWhy((await runCommand(fleet, "why", "cloneset/web", "-n", "shop")).text);
  // Text without a terminal ends after some hundred characters of an object.
  const { unhealthy } = JSON.parse((await runCommand(fleet, "status", "-n", "shop", "-o", "json")).text) as FleetStatus;
  const status = unhealthy.worst.map(({ reason }) => reason);
  const unnamed = Object.entries(names).flatMap(([operation, name]) => {
    const { wrong, isReported } = ruleOf(operation, name);
    const about = (lines: readonly string[]): string[] => lines.filter((line) => NAMES[operation]?.test(line));
    const isNamed = (line: string): boolean =>
      wrong?.test(line) === true && line.includes("ResourceInterpreterCustomization mine");
    const title = `${operation}: ${name}`;
    // The rule of the guide asks for at least one replica.
    const isRight = operation === "health" && name === "guide" && names["replicas"] === "none at all";
    if (wrong === undefined)
      return isReported || isRight
        ? []
        : [...about(why), ...about(status)].map((line) => `${title} is sound, and is named: ${line}`);
    if (isMasked(operation, names)) return [];
    return Object.entries({ why, status }).flatMap(([command, lines]) =>
      about(lines).some(isNamed) ? [] : [`${command} does not name ${title}`],
    );
  });
  expect(unnamed, [...why, ...status].join("\n")).toEqual([]);
  await fleet.stop();
}

/** Whether another rule keeps this one from having an effect. */
function isMasked(operation: string, names: Names): boolean {
  const other = (of: string) => ruleOf(of, names[of] ?? "none");
  const hasNoPods = names["replicas"] === "none at all";
  const isUndispatched = other("replicas").wrong !== undefined && "replicaRevision" in other("replicas").customizations;
  switch (operation) {
    case "health":
      // Pods that are not as asked for are the nearer reason.
      return (
        names["health"] === "never" &&
        (other("replicas").wrong ?? other("retain").wrong ?? other("retain").isReported) !== undefined
      );
    case "reflect":
      // The hub sums what the user's rule sums, and only of healthy members.
      return (
        other("reflect").fails !== true &&
        (hasNoPods || names["aggregate"] !== "none" || other("health").wrong !== undefined)
      );
    case "retain":
      return isUndispatched;
    default:
      return false;
  }
}

async function playWaves(names: Names, pods: number): Promise<void> {
  const fleet = await startRulesFleet({ quarantine: QUARANTINE });
  const web = { cluster: "hub", namespace: "shop", name: "web" };
  await fleet.client.create(RolloutStrategy, "hub", {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { name: "careful", namespace: "shop" },
    spec: {
      selector: { matchLabels: { release: "careful" } },
      waves: [
        { name: "first", pods },
        { name: "rest", before: [{ approval: {} }] },
      ],
    },
  } as unknown as RolloutStrategy);
  await fleet.client.patch(CloneSet, web, { metadata: { labels: { release: "careful" } } }, { type: "merge" });
  await fleet.customize(customizationsOf(names));
  fleet.record();

  await fleet.release({ image: "web:2" });
  await fleet.run(2 * SETTLED_MS);

  const updated = (await fleet.podsWith("web:2")).reduce((sum, each) => sum + each, 0);
  const why = (await runCommand(fleet, "why", "cloneset/web", "-n", "shop")).text;
  expect(fleet.mostPodsWith("web:2"), why).toBeLessThanOrEqual(pods);
  expect(updated === pods || hasProblems(why), `what is not as asked is named:\n${why}`).toBe(true);
  await fleet.stop();
}

async function play(first: Names, steps: readonly Step[]): Promise<void> {
  const fleet = await startRulesFleet({ quarantine: QUARANTINE });
  const customize = (names: Names): Promise<void> => fleet.customize(customizationsOf(names));
  const sum = async (image: string): Promise<number> =>
    (await fleet.podsWith(image)).reduce((total, pods) => total + pods, 0);
  let version = 1;
  let asked = { replicas: 10, partition: 0 };
  const demanded = (): number => Math.max(0, asked.replicas - asked.partition);
  await customize(first);
  for (const next of steps) {
    const before = demanded();
    const image = next.do === "image" ? `web:${++version}` : undefined;
    if (next.do === "image" || next.do === "partition") asked = { ...asked, partition: next.partition };
    if (next.do === "scale") asked = { ...asked, replicas: next.replicas };
    // A rule that failed may have kept the fleet larger than asked for: these pods go when it does.
    const running = await sum(`web:${version}`);
    fleet.record();
    if (next.do === "rules") await customize(next.names);
    else if (next.do === "no rules") await fleet.removeRules();
    else await fleet.release({ image, partition: asked.partition, replicas: asked.replicas });
    // Pods are rolled back one after the other.
    const ceiling = image === undefined ? Math.max(before, running, demanded()) : demanded();
    await fleet.run(SETTLED_MS);
    expect(fleet.mostPodsWith(`web:${version}`)).toBeLessThanOrEqual(ceiling);
    for (const images of Object.values(fleet.record().images)) expect(new Set(images).size).toBe(images.length);
    const isAsAsked = (await sum(`web:${version}`)) === demanded();
    const why = (await runCommand(fleet, "why", "cloneset/web", "-n", "shop")).text;
    const status = (await runCommand(fleet, "status", "-n", "shop")).text;
    expect(isAsAsked || hasProblems(why), `what is not as asked is named:\n${why}`).toBe(true);
    // More replicas than asked for, which a rule leaves to the members, are not a problem of the fleet.
    const isOfReplicas = !/spec\.(template|updateStrategy)/.test(problemsOfWhy(why).join("\n"));
    const hasMore = (await sum(`web:${version}`)) > demanded();
    const isLeft = /(keeps|sets) values (of|on) members: .*spec\.replicas/.test(why) && isOfReplicas && hasMore;
    expect(
      isAsAsked || isLeft || problemsOfStatus(status).length > 0,
      `what is not as asked is named:\n${why}\n${status}`,
    ).toBe(true);
    fleet.resetWrites();
    await fleet.run(SETTLED_MS);
    const onHub = fleet.writes().filter(({ part }) => !["member", "membership", "execute", "events"].includes(part));
    expect(onHub, "the hub writes nothing while nothing happens").toEqual([]);
    expect(fleet.record()).toMatchObject({ created: 0, deleted: 0, writes: 0 });
  }
  await fleet.stop();
}
