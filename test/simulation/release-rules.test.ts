/** Releases by partition while users' interpreter rules are in place: a release does what was asked, or stops. */
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { Deployment } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { createLastingEngine } from "@flotilla/testing/fleet/fleet.ts";
import { problemsOfStatus } from "./health-fleet.ts";
import { runCommand } from "./run-command.ts";
import { GUIDE_HEALTH, GUIDE_RULES, RETAIN_STRATEGY, startRulesFleet } from "./rules-fleet.ts";
import type { ReleaseRecord, RulesFleet } from "./rules-fleet.ts";

let fleet: RulesFleet;
afterEach(() => fleet.stop());

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Runs the fleet and returns the values of UPDATED on the hub, without repetitions. */
async function updatedOver(ms: number): Promise<number[]> {
  const seen: number[] = [];
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    await fleet.run(SECOND_MS);
    const updated = (await fleet.read("hub")).status?.updatedReplicas ?? 0;
    if (seen.at(-1) !== updated) seen.push(updated);
  }
  return seen;
}

describe("a rule for health", () => {
  /** Image 2 with partition 7, then 5, 2 and 8. */
  async function play(
    customizations: object | undefined,
  ): Promise<{ works: ReleaseRecord["works"]; updated: number[][] }> {
    fleet = await startRulesFleet({ partition: 7 });
    if (customizations) await fleet.customize(customizations);
    fleet.record();
    const updated: number[][] = [];
    for (const change of [{ image: "web:2" }, { partition: 5 }, { partition: 2 }, { partition: 8 }]) {
      await fleet.release(change);
      updated.push(await updatedOver(MINUTE_MS));
    }
    const { works } = fleet.record();
    await fleet.stop();
    return { works, updated };
  }

  test("changes neither the Works of a release nor the order in which pods are updated", async () => {
    const plain = await play(undefined);
    const ruled = await play(GUIDE_HEALTH);

    expect(ruled.works).toEqual(plain.works);
    const [released = [], ...steps] = ruled.updated;
    // The first value counts pods of the image before.
    expect(released.slice(1)).toEqual(released.slice(1).toSorted((a, b) => a - b));
    expect(released.at(-1)).toBe(3);
    expect(steps.map((step) => step.at(-1))).toEqual([5, 8, 2]);
    for (const [index, step] of steps.entries())
      expect(step).toEqual(step.toSorted((a, b) => (index < 2 ? a - b : b - a)));
  });
});

describe("a member that does not follow the partition", () => {
  /** As a webhook on the members that always sets the partition to zero. */
  let isMutating = true;
  const mutate = (body: JsonObject): JsonObject => {
    const { spec } = body as { spec?: { updateStrategy?: JsonObject } };
    if (!isMutating || spec?.updateStrategy?.["partition"] === undefined) return body;
    return { ...body, spec: { ...spec, updateStrategy: { ...spec.updateStrategy, partition: 0 } } };
  };

  test("is sent the previous template once, and the release stops until it is changed", async () => {
    isMutating = true;
    fleet = await startRulesFleet({ mutate });

    await fleet.release({ image: "web:2", partition: 9 });
    await fleet.run(10 * MINUTE_MS);

    // Every pod is updated and rolled back once; the previous template then reaches every pod as well.
    expect(fleet.record()).toMatchObject({
      created: 20,
      images: { member1: ["web:2", "web:1"], member2: ["web:2", "web:1"] },
    });
    expect(await fleet.podsWith("web:1")).toEqual([5, 5]);
    expect(await fleet.condition("Dispatched")).toMatchObject({
      status: "False",
      reason: "RollbackFailed",
      message: expect.stringContaining("member1 keeps 0 instead of 1"),
    });
    const { problems, members } = await fleet.why();
    expect(problems.map(({ what }) => what)).toEqual([expect.stringContaining("member1 keeps 0 instead of 1")]);
    expect(members[0]?.onMember).toEqual([{ path: "spec.updateStrategy.partition", before: 1, after: 0 }]);

    await fleet.release({ partition: 8 });
    await fleet.run(10 * MINUTE_MS);
    expect(fleet.record().images).toEqual({ member1: ["web:2", "web:1"], member2: ["web:2", "web:1"] });

    isMutating = false;
    await fleet.release({ partition: 7 });
    await fleet.run(10 * MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([2, 1]);
    expect(await fleet.condition("Dispatched")).toMatchObject({ status: "True" });
    expect((await fleet.why()).problems).toEqual([]);
  });
});

describe("a Retain rule that keeps the members' strategy", () => {
  test.each([
    { rules: "alone", customizations: RETAIN_STRATEGY, partition: 9 },
    { rules: "with the other rules of the guide", customizations: GUIDE_RULES, partition: 4 },
  ])(
    "$rules, stops a release that it would let reach more pods than requested",
    async ({ customizations, partition }) => {
      fleet = await startRulesFleet();
      await fleet.customize(customizations);
      fleet.record();

      await fleet.release({ image: "web:2", partition });
      await fleet.run(10 * MINUTE_MS);

      expect(fleet.record()).toMatchObject({ created: 0, deleted: 0, images: {} });
      expect(await fleet.podsWith("web:1")).toEqual([5, 5]);
      expect((await fleet.read("hub")).status).toMatchObject({ replicas: 10, readyReplicas: 10, updatedReplicas: 0 });
      expect(await fleet.condition("MemberDecides")).toMatchObject({
        status: "True",
        message: expect.stringContaining("ResourceInterpreterCustomization mine leaves spec.updateStrategy"),
      });
      expect(await fleet.workCondition("member1", "Applied")).toMatchObject({
        status: "False",
        reason: "ReleaseStopped",
        message: expect.stringMatching(
          /ResourceInterpreterCustomization mine keeps spec.updateStrategy.partition of the member \(0; the hub asks for \d\), so that 5 pods would get it instead of \d/,
        ),
      });
      const { members, problems } = await fleet.why();
      expect(problems.map(({ what }) => what).join("\n")).toContain("the release is not sent");
      expect(members[0]).toMatchObject({
        onMember: expect.arrayContaining([
          { path: "spec.updateStrategy.partition", before: expect.any(Number), after: 0 },
        ]),
        onMemberBy: "ResourceInterpreterCustomization mine",
      });
    },
  );

  test("is run by a plan, which shows what the members really get", async () => {
    fleet = await startRulesFleet({ partition: 4 });
    await fleet.customize(RETAIN_STRATEGY);

    const obeyed = await fleet.plan({ image: "web:2", partition: 3 });
    const kept = await fleet.plan({ partition: 3 });
    const stopped = await fleet.plan({ image: "web:2", partition: 9 });

    const decides =
      "the member decides, by the Retain rule of ResourceInterpreterCustomization mine: spec.updateStrategy.partition is 2, the hub asks for 1";
    expect(obeyed.changes.map(({ cluster, fields, note }) => ({ cluster, fields, note }))[0]).toEqual({
      cluster: "member1",
      fields: [{ path: "spec.template.spec.containers[web].image", before: "web:1", after: "web:2" }],
      note: decides,
    });
    expect(kept).toMatchObject({
      changes: [],
      notes: expect.arrayContaining([`CloneSet shop/web on member1 stays: ${decides}`]),
    });
    expect(stopped.changes).toEqual([]);
    expect(stopped.problems.map(({ message }) => message)).toContain(
      "member1: the release is not sent: the Retain rule of ResourceInterpreterCustomization mine keeps " +
        "spec.updateStrategy.partition of the member (2; the hub asks for 4), so that 3 pods would get it " +
        "instead of 1",
    );
  });

  test("still stops a release in the plan of what was applied, until it is set back", async () => {
    fleet = await startRulesFleet({ partition: 4 });
    await fleet.customize(RETAIN_STRATEGY);
    const wanted = { image: "web:2", partition: 9 };
    const before = await fleet.plan(wanted);
    await fleet.release(wanted);
    await fleet.run(30_000);

    const after = await fleet.plan(wanted);
    const back = await fleet.plan({ image: "web:1", partition: 4 });

    expect(after.changes).toEqual([]);
    expect(after.problems).toEqual(before.problems);
    expect(after.problems.length).toBeGreaterThan(0);
    expect(back.problems).toEqual([]);
  });

  test("is not reported for the status that a rule copies", async () => {
    fleet = await startRulesFleet({ partition: 4 });
    await fleet.customize({
      retention: {
        luaScript:
          "function Retain(desiredObj, observedObj) desiredObj.status = observedObj.status return desiredObj end",
      },
    });

    const { changes, notes } = await fleet.plan({ image: "web:2", partition: 3 });

    expect(changes.map(({ note }) => note)).toEqual(changes.map(() => undefined));
    expect(changes.length).toBeGreaterThan(0);
    expect(notes.join("\n")).not.toContain("status is");
  });

  test("continues exactly when the rule is removed", async () => {
    fleet = await startRulesFleet();
    await fleet.customize(RETAIN_STRATEGY);
    await fleet.release({ image: "web:2", partition: 9 });
    await fleet.run(MINUTE_MS);
    fleet.record();

    await fleet.removeRules();
    await fleet.run(10 * MINUTE_MS);

    expect(await fleet.podsWith("web:2")).toEqual([1, 0]);
    expect(fleet.record()).toMatchObject({ created: 1, images: { member1: ["web:2"], member2: ["web:2"] } });
    expect(await fleet.condition("MemberDecides")).toMatchObject({ status: "False" });
    expect((await fleet.why()).problems).toEqual([]);
  });

  test("leaves a release to the members that keep back at least as many pods as asked", async () => {
    fleet = await startRulesFleet({ partition: 4 });
    await fleet.customize(GUIDE_RULES);
    fleet.record();

    await fleet.release({ image: "web:2" });
    await fleet.run(5 * MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([3, 3]);
    expect(fleet.record()).toMatchObject({ created: 6, images: { member1: ["web:2"], member2: ["web:2"] } });

    await fleet.release({ partition: 0 });
    await fleet.run(5 * MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([3, 3]);
    await fleet.release({ partition: 8 });
    await fleet.run(5 * MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([3, 3]);
    expect(fleet.record()).toMatchObject({ created: 0, deleted: 0 });
  });
});

describe("a rule that is added after a release was rolled back", () => {
  test("does not make the pods of the previous template count as pods of the release", async () => {
    fleet = await startRulesFleet();
    await fleet.release({ image: "web:broken", partition: 9 });
    await fleet.run(MINUTE_MS);
    await fleet.release({ partition: 10 });
    await fleet.run(MINUTE_MS);
    expect(await fleet.podsWith("web:1")).toEqual([5, 5]);

    await fleet.customize(GUIDE_RULES);

    expect((await fleet.read("hub")).status).toMatchObject({ replicas: 10, updatedReplicas: 0 });
    const { problems } = await fleet.why();
    expect(problems.map(({ what }) => what).join("\n")).toContain("the release is not sent");
    expect(problems.map(({ what }) => what).join("\n")).not.toContain("not rolled back");
    const status = (await runCommand(fleet, "status", "-n", "shop")).text;
    expect(status).not.toContain("not rolled back");
  });
});

describe("a Retain rule that keeps the members' pod template", () => {
  const RETAIN_SPEC = {
    retention: {
      luaScript: "function Retain(desired, observed)\n  desired.spec = observed.spec\n  return desired\nend",
    },
  };

  test("keeps a release from the members, which `status` reports, and the release is exact when the rule is removed", async () => {
    fleet = await startRulesFleet();
    await fleet.customize(RETAIN_SPEC);
    await fleet.release({ image: "web:2", partition: 1 });
    await fleet.run(MINUTE_MS);

    expect(await fleet.podsWith("web:2")).toEqual([0, 0]);
    expect(problemsOfStatus((await runCommand(fleet, "status", "-n", "shop")).text)).toEqual([
      expect.stringMatching(
        /CloneSet shop\/web: the Retain rule of ResourceInterpreterCustomization mine keeps values of members: member1: .*image is "web:1" instead of "web:2"/,
      ),
    ]);

    fleet.record();
    await fleet.removeRules();
    await fleet.run(MINUTE_MS);
    expect(fleet.record().images).toEqual({ member1: ["web:2"], member2: ["web:2"] });
    expect(await fleet.podsWith("web:2")).toEqual([5, 4]);
    expect((await fleet.why()).problems).toEqual([]);
  });
});

describe("a Retain rule that keeps only the pod template", () => {
  const RETAIN_TEMPLATE = {
    retention: {
      luaScript:
        "function Retain(desired, observed)\n  desired.spec.template = observed.spec.template\n  return desired\nend",
    },
  };

  test("lets no more pods get the release when the partition is raised", async () => {
    fleet = await startRulesFleet();
    await fleet.release({ image: "web:2", partition: 3 });
    await fleet.run(MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([4, 3]);
    await fleet.customize(RETAIN_TEMPLATE);

    await fleet.release({ partition: 7 });
    await fleet.run(MINUTE_MS);

    expect(await fleet.podsWith("web:2")).toEqual([4, 3]);
    const { problems } = await fleet.why();
    expect(problems.map(({ what }) => what)).toEqual([
      expect.stringContaining(
        "4 pods are not rolled back from the release on member1, member2, where 7 have it instead of 3",
      ),
    ]);
    expect(problemsOfStatus((await runCommand(fleet, "status", "-n", "shop")).text).join()).toContain(
      "not rolled back",
    );
  });
});

describe("a ReviseReplica rule that differs from the kind's own division", () => {
  const REVISE = {
    replicaResource: { jsonPath: ".spec.replicas" },
    replicaRevision: {
      luaScript:
        "function ReviseReplica(desired, count)\n  desired.spec.replicas = count\n  desired.spec.minReadySeconds = 0\n  return desired\nend",
    },
  };
  const COUNTS = "spec.updateStrategy.partition is 7 on member1 instead of 3";

  test("makes the partition count in every cluster, which `why` and `plan` state", async () => {
    fleet = await startRulesFleet({ partition: 7 });
    expect((await fleet.plan({ image: "web:2" })).problems).toEqual([]);
    await fleet.customize(REVISE);

    const problems = (await fleet.why()).problems.map(({ what }) => what);
    const planned = (await fleet.plan({ image: "web:2" })).problems.map(({ message }) => message);

    expect(problems.filter((what) => what.includes(COUNTS))).toEqual([
      expect.stringContaining(
        "ReviseReplica of ResourceInterpreterCustomization mine takes the place of the division over the fleet",
      ),
    ]);
    expect(planned.filter((what) => what.includes(COUNTS))).toHaveLength(1);

    await fleet.release({ partition: 0 });
    await fleet.run(MINUTE_MS);
    expect((await fleet.why()).problems).toEqual([]);
  });
});

describe("a Retain rule that gives a list another value each time", () => {
  const ENV = "desired.spec.template.spec.containers[1].env";
  const BECAUSE =
    "the hub changed spec.template.spec.containers 5 times within ten minutes, because the Retain rule of " +
    "ResourceInterpreterCustomization mine gives it another value each time, and no longer writes the object";

  async function createDeployment(): Promise<void> {
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/api").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
    );
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/api").replicas(4).build());
    await fleet.run(MINUTE_MS);
  }

  const generationOn = async (cluster: string): Promise<number> =>
    (await fleet.client.get(Deployment, { cluster, namespace: "shop", name: "api" })).metadata.generation ?? 0;
  const outputOf = async (command: string, ...args: string[]): Promise<string> =>
    (await runCommand(fleet, command, ...args)).text.replaceAll(/\s+/g, " ");

  test.each([
    { value: "the time", line: `${ENV} = { { name = "AT" .. tostring(os.time()), value = "a" } }` },
    {
      value: "its own result",
      line: `${ENV} = observed.spec.template.spec.containers[1].env or {}
  table.insert(${ENV}, { name = "A" .. tostring(#${ENV}), value = "a" })`,
    },
  ])("from $value, is stopped after five, and is named until the rule is removed", async ({ line }) => {
    fleet = await startRulesFleet();
    await createDeployment();
    const luaScript = `function Retain(desired, observed)\n  ${line}\n  return desired\nend`;
    await fleet.client.create(ResourceInterpreterCustomization, "hub", {
      apiVersion: "config.karmada.io/v1alpha1",
      kind: "ResourceInterpreterCustomization",
      metadata: { name: "mine" },
      spec: { target: { apiVersion: "apps/v1", kind: "Deployment" }, customizations: { retention: { luaScript } } },
    });
    await fleet.run(MINUTE_MS);

    expect(await generationOn("member1")).toBe(6);
    fleet.record();
    await fleet.run(15 * MINUTE_MS);
    expect(fleet.record()).toMatchObject({ created: 0, deleted: 0 });
    expect(await generationOn("member1")).toBe(6);
    expect(await fleet.events("Oscillating")).toContainEqual(expect.stringContaining(BECAUSE));
    const metrics = await fleet.metrics();
    expect(metrics).toContain('flotilla_stopped_objects{member_cluster="member1"} 1\n');
    expect(metrics).toContain('flotilla_oscillations_total{member_cluster="member1"} 1\n');
    const NAMED = "the Retain rule of ResourceInterpreterCustomization mine gives it another value each time";
    expect(await outputOf("status", "-n", "shop")).toContain(NAMED);
    expect(await outputOf("why", "deployment/api", "-n", "shop")).toContain(NAMED);
    expect(await outputOf("doctor", "--only", "works")).toContain(NAMED);

    await fleet.removeRules();
    await fleet.run(MINUTE_MS);
    expect(await fleet.metrics()).not.toContain("flotilla_stopped_objects{");
    expect(await outputOf("why", "deployment/api", "-n", "shop")).not.toContain("no longer writes");
  });
});

describe("an object that the hub changes back and forth", () => {
  /** As a second hub on the same Works does: dispatch restores the Work each time, and execute writes both. */
  async function editWorks(times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      await fleet.editWork("member1", "web:9");
      await fleet.run(MINUTE_MS / 2);
    }
  }

  test("is no longer written, is reported, and is written again after a change of a policy", async () => {
    fleet = await startRulesFleet();

    await editWorks(10);

    const { writes, images } = fleet.record();
    expect(images).toEqual({ member1: ["web:9", "web:1", "web:9"] });
    expect(writes).toBeLessThanOrEqual(5);
    expect(await fleet.workCondition("member1", "Applied")).toMatchObject({
      status: "False",
      reason: "Oscillating",
      message: expect.stringContaining("spec.template.spec.containers back and forth 3 times"),
    });
    expect((await fleet.why()).problems.map(({ what }) => what).join("\n")).toContain("back and forth 3 times");
    expect(await fleet.events("Oscillating")).not.toEqual([]);
    expect((await fleet.read("hub")).status).toMatchObject({ replicas: 10, readyReplicas: 10 });
    expect(await fleet.metrics()).toContain('flotilla_stopped_objects{member_cluster="member1"} 1\n');
    expect(await fleet.metrics()).toContain('flotilla_oscillations_total{member_cluster="member1"} 1\n');

    await fleet.touchPolicy();
    await fleet.run(MINUTE_MS);
    expect(fleet.record().images).toEqual({ member1: ["web:1"] });
    expect((await fleet.why()).problems).toEqual([]);
    expect(await fleet.metrics()).not.toContain("flotilla_stopped_objects{");
  });

  test("is written again when its template changes, or a rule of its kind", async () => {
    fleet = await startRulesFleet();
    await editWorks(4);
    await fleet.release({ image: "web:2" });
    await fleet.run(MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([5, 5]);

    await editWorks(4);
    expect((await fleet.why()).problems).not.toEqual([]);
    await fleet.customize(GUIDE_HEALTH);
    expect(await fleet.podsWith("web:2")).toEqual([5, 5]);
    expect((await fleet.why()).problems).toEqual([]);
  });

  test("stays stopped after a restart of the hub, until its template, a policy or a rule changes", async () => {
    const engine = createLastingEngine();
    fleet = await startRulesFleet({ engine });
    await editWorks(4);
    const { clock } = fleet;
    const restart = async (): Promise<void> => {
      await fleet.stop();
      fleet = await startRulesFleet({ engine, clock, isContinued: true });
    };

    await restart();
    await editWorks(4);
    expect(fleet.record().images).toEqual({});
    expect(await fleet.workCondition("member1", "Applied")).toMatchObject({
      status: "False",
      reason: "Oscillating",
      message: expect.stringContaining("until the template (generation 1), a policy or a rule changes"),
    });
    expect(await fleet.metrics()).toContain('flotilla_stopped_objects{member_cluster="member1"} 1\n');
    expect(await fleet.metrics()).not.toContain("flotilla_oscillations_total{");

    await fleet.release({ image: "web:2" });
    await fleet.run(MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([5, 5]);
    await editWorks(4);
    await restart();
    await fleet.touchPolicy();
    await fleet.run(MINUTE_MS);
    expect(await fleet.podsWith("web:2")).toEqual([5, 5]);
    expect((await fleet.why()).problems).toEqual([]);
    await editWorks(4);
    await restart();
    expect((await fleet.why()).problems).not.toEqual([]);
    await fleet.customize(GUIDE_HEALTH);
    await fleet.run(MINUTE_MS);
    expect((await fleet.why()).problems).toEqual([]);
  });
});
