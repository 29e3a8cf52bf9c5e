import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { Place } from "./members-places.ts";
import { selectorOf } from "./pods.ts";
import type { FoundPod } from "./pods.ts";
import { choosePod } from "./run-exec.ts";
import { prefixOf, sourcesOf } from "./run-logs.ts";

const place = (name: string): Place => ({ name, prefix: "", mode: "push" });
const pod = (cluster: string, name: string, more: Partial<FoundPod> = {}): FoundPod => ({
  place: place(cluster),
  namespace: "shop",
  name,
  containers: ["web"],
  initContainers: [],
  defaultContainer: "web",
  isRunning: true,
  ...more,
});

describe("the selector of", () => {
  const cases: Record<string, { object: JsonObject; want: string | undefined }> = {
    "a workload is its spec.selector": {
      object: { spec: { selector: { matchLabels: { app: "web" } } } },
      want: "app=web",
    },
    "a workload with expressions includes all of them": {
      object: {
        spec: {
          selector: {
            matchLabels: { app: "web" },
            matchExpressions: [
              { key: "tier", operator: "In", values: ["a", "b"] },
              { key: "x", operator: "NotIn", values: ["c"] },
              { key: "y", operator: "Exists" },
              { key: "z", operator: "DoesNotExist" },
            ],
          },
        },
      },
      want: "app=web,tier in (a,b),x notin (c),y,!z",
    },
    "a Service is its plain label map": {
      object: { spec: { selector: { app: "web", tier: "front" } } },
      want: "app=web,tier=front",
    },
    "an object with a status.selector is that one": {
      object: { spec: {}, status: { labelSelector: "app=web" } },
      want: "app=web",
    },
    "an object without one is undefined": { object: { spec: { selector: {} } }, want: undefined },
  };
  for (const [behaviour, { object, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(selectorOf(object)).toBe(want);
    });
  }
});

describe("logs", () => {
  const two = pod("member1", "a", { containers: ["web", "proxy"], initContainers: ["init"] });
  const one = pod("member2", "b");

  test("are from the default container of each pod", () => {
    expect(
      sourcesOf([two, one], { allContainers: false }).map((source) => prefixOf(source, { allContainers: false })),
    ).toEqual(["[member1/a] ", "[member2/b] "]);
  });

  test("logs of all containers name the container", () => {
    expect(
      sourcesOf([two, one], { allContainers: true }).map((source) => prefixOf(source, { allContainers: true })),
    ).toEqual(["[member1/a/init] ", "[member1/a/web] ", "[member1/a/proxy] ", "[member2/b/web] "]);
  });

  test("logs of a named container are from the pods that have it", () => {
    expect(
      sourcesOf([two, one], { container: "proxy", allContainers: false }).map(({ pod: { name } }) => name),
    ).toEqual(["a"]);
    expect(() => sourcesOf([two, one], { container: "nope", allContainers: false })).toThrow(
      "no pod has a container 'nope'; available: init, web, proxy",
    );
  });
});

describe("the pod that a command runs in", () => {
  const question = { named: "deployment/web", namespace: "shop" };
  const places = ["member1", "member2"].map(place);

  test("is the first running one, if a single member has them", () => {
    expect(
      choosePod(
        { pods: [pod("member1", "a", { isRunning: false }), pod("member1", "b")], failures: [], hasOwner: true },
        question,
        places,
      ).name,
    ).toBe("b");
  });

  test("has to be selected if several members have them", () => {
    expect(() =>
      choosePod({ pods: [pod("member1", "a"), pod("member2", "b")], failures: [], hasOwner: true }, question, places),
    ).toThrow("deployment/web is on member1, member2; select one with --clusters");
  });

  test("is reported as missing with the members that responded and those that did not", () => {
    const failures = [{ place: place("member2"), reason: "away" }];

    expect(() => choosePod({ pods: [], failures, hasOwner: true }, question, places)).toThrow(
      "there is no pod of deployment/web in namespace shop on member1; no response from member2",
    );
    expect(() =>
      choosePod(
        { pods: [], failures: places.map((each) => ({ place: each, reason: "away" })), hasOwner: true },
        question,
        places,
      ),
    ).toThrow("no cluster responded");
    expect(() => choosePod({ pods: [], failures: [], hasOwner: false }, question, places)).toThrow(
      "there is no deployment/web in namespace shop on member1, member2",
    );
  });
});
