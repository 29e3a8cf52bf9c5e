import { afterEach, describe, expect, test } from "vitest";
import { ConfigMap, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { launchPriorities } from "./launch-priority-admission.ts";
import { planLaunch } from "./launch-priority-controller.ts";

function makePod(priorities: readonly (string | undefined)[], annotations: Record<string, string> = {}): Pod {
  const containers = priorities.map((value, index) => ({
    name: `c${index}`,
    image: "web:1",
    env: value !== undefined ? [{ name: "KRUISE_CONTAINER_PRIORITY", value }] : undefined,
  }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: NAMESPACE, annotations },
    spec: { containers },
  };
}

describe("Launch priorities", () => {
  const cases: Record<string, { pod: Pod; want: number[] | undefined }> = {
    "come from the variables, and default to 0": { pod: makePod(["5", undefined, "-3"]), want: [5, 0, -3] },
    "follow the order of the containers with the Ordered annotation": {
      pod: makePod([undefined, "7", undefined], { "apps.kruise.io/container-launch-priority": "Ordered" }),
      want: [0, -1, -2],
    },
    "have no effect when they are equal": { pod: makePod(["2", "2"]), want: undefined },
    "have no effect for a single container": { pod: makePod(["2"]), want: undefined },
    "are unset when not requested": { pod: makePod([undefined, undefined]), want: undefined },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, want }) => {
    expect(launchPriorities(pod)).toEqual(want);
  });

  test("must be integers", () => {
    expect(() => launchPriorities(makePod(["high", "1"]))).toThrow(
      'admission webhook "mpod.kb.io" denied the request: strconv.Atoi: parsing "high": invalid syntax',
    );
  });
});

describe("A pod with launch priorities", () => {
  const waiting = (ready: readonly string[]): DeepReadonly<Pod> => ({
    ...makePod([undefined, undefined, undefined]),
    spec: {
      containers: [10, 5, 5].map((priority, index) => ({
        name: `c${index}`,
        env: [
          {
            name: "KRUISE_CONTAINER_BARRIER",
            valueFrom: { configMapKeyRef: { name: "web-barrier", key: `p_${priority}` } },
          },
        ],
      })),
    },
    status: {
      containerStatuses: ready.map((name) => ({ name, ready: true, restartCount: 0, image: "", imageID: "" })),
    },
  });

  test("may first start the containers with the highest priority", () => {
    expect(planLaunch(waiting([]), () => false)).toEqual({ open: 10, isCompleted: false });
  });

  test("waits until these are ready", () => {
    expect(planLaunch(waiting([]), (priority) => priority === 10)).toEqual({ isCompleted: false });
  });

  test("completes with the lowest priority", () => {
    expect(planLaunch(waiting(["c0"]), (priority) => priority === 10)).toEqual({ open: 5, isCompleted: true });
  });
});

describe("On a member", () => {
  let member: KruiseMember;
  afterEach(() => member.stop());

  test("starts containers one priority after the other", async () => {
    member = await startKruiseMember();
    const order: string[] = [];
    member.informers.of(Pod).subscribe(({ object }) => {
      const ready =
        object.status?.containerStatuses
          ?.filter((status) => status.ready)
          .map(({ name }) => name)
          .join(" ") ?? "";
      if (ready !== "" && order.at(-1) !== ready) order.push(ready);
    });

    await member.client.create(Pod, MEMBER, makePod([undefined, "2", "1"]));
    await member.pass(60_000);

    const [pod] = member.pods();
    const barrier = await member.get(ConfigMap, "web-barrier");
    expect(order).toEqual(["c1", "c1 c2", "c0 c1 c2"]);
    expect(barrier.data).toEqual({ p_2: "true", p_1: "true", p_0: "true" });
    expect(barrier.metadata.ownerReferences).toEqual([
      { apiVersion: "v1", kind: "Pod", name: "web", uid: pod?.metadata.uid },
    ]);
    expect(pod?.metadata.annotations?.["apps.kruise.io/container-launch-priority-completed"]).toBe("true");
  });

  test("writes nothing once the pod is running", async () => {
    member = await startKruiseMember();
    await member.client.create(Pod, MEMBER, makePod(["2", "1"]));
    await member.pass(60_000);

    member.writes.reset();
    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });
});
