import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeCloneSet } from "@flotilla/testing/builders.ts";
import type { LocatePods } from "../../membership/locate-pods.ts";
import { NAMED_PODS } from "../../flotilla-names.ts";
import { withOwnPods, withoutDonePods } from "./member-pods.ts";
import { clustersOfNamedPods, namedPodsOf, namedPodsProblem, podsToDeleteOf, recordNamedPods } from "./named-pods.ts";
import type { NamedPods } from "./named-pods.ts";

const cloneSet = (...names: string[]): KubernetesObject =>
  makeCloneSet("shop/web")
    .with(({ spec }) => (spec.scaleStrategy = { maxUnavailable: 1, podsToDelete: names }))
    .build();
const bound = (named?: NamedPods): ResourceBinding => {
  const binding = makeBinding(cloneSet()).targets({ oslo: 3, paris: 2 }).build();
  if (named) binding.metadata.annotations = { [NAMED_PODS]: JSON.stringify(named) };
  return binding;
};
const locate =
  (found: Record<string, string[]>, ...unasked: string[]): LocatePods =>
  () =>
    Promise.resolve({
      found: new Map(Object.entries(found).map(([cluster, names]) => [cluster, new Set(names)])),
      unasked,
    });
const neverAsked: LocatePods = () => Promise.reject(new Error("members must not be asked"));

test("a name is recorded with the members that have the pod, in the order of the template", async () => {
  const located = locate({ oslo: ["a"], paris: ["b", "both"] });

  expect(await recordNamedPods(cloneSet("b", "a", "absent"), 5, bound(), located)).toEqual({
    pods: [
      ["b", ["paris"], 5],
      ["a", ["oslo"], 5],
      ["absent", [], 5],
    ],
  });
});

test("members are not asked again for a name that the binding has recorded", async () => {
  const named: NamedPods = { pods: [["a", ["oslo"], 5]] };

  expect(await recordNamedPods(cloneSet("a"), 4, bound(named), neverAsked)).toEqual(named);
});

test("a name stays open while a member does not respond, unless another member has the pod", async () => {
  expect(await recordNamedPods(cloneSet("a", "b"), 5, bound(), locate({ oslo: ["a"] }, "paris"))).toEqual({
    pods: [["a", ["oslo"], 5]],
    open: ["b"],
    unasked: ["paris"],
  });
});

test("a template that names no pods has no record, and neither has another kind", async () => {
  const other = { ...cloneSet("a"), apiVersion: "apps/v1" };

  expect(await recordNamedPods(cloneSet(), 5, bound(), neverAsked)).toBeUndefined();
  expect(podsToDeleteOf(other)).toEqual([]);
});

test("a record that a user overwrote counts as none", () => {
  for (const text of ["{", "[]", '{"pods":[["a"]]}'])
    expect(namedPodsOf({ metadata: { annotations: { [NAMED_PODS]: text } } })).toBeUndefined();
});

test("replicas are taken from the members of pods that were named in the same change", () => {
  const named: NamedPods = {
    pods: [
      ["old", ["oslo"], 5],
      ["new", ["paris", "oslo"], 4],
    ],
  };

  expect(clustersOfNamedPods(named, 4)).toEqual(["paris", "oslo"]);
});

test("each copy has the names of its member's pods, and the other fields of the strategy", () => {
  const copies = new Map(["oslo", "paris", "rome"].map((cluster) => [cluster, cloneSet("a", "b", "absent")] as const));
  const named: NamedPods = {
    pods: [
      ["a", ["oslo", "paris"], 5],
      ["b", ["paris"], 5],
      ["absent", [], 5],
    ],
  };

  const given = Array.from(withOwnPods(copies, named).values(), (copy) => ({
    strategy: (copy as { spec?: { scaleStrategy?: unknown } }).spec?.scaleStrategy,
    record: copy.metadata.annotations?.["flotilla.dev/pods-to-delete"],
  }));

  expect(given).toEqual([
    { strategy: { maxUnavailable: 1, podsToDelete: ["a"] }, record: "a" },
    { strategy: { maxUnavailable: 1, podsToDelete: ["a", "b"] }, record: "a,b" },
    { strategy: { maxUnavailable: 1 }, record: undefined },
  ]);
});

const given = (record: string, ...names: string[]): KubernetesObject => {
  const copy = cloneSet(...names);
  copy.metadata.annotations = { "flotilla.dev/pods-to-delete": record };
  return copy;
};
const done: Record<string, { observed: KubernetesObject | undefined; want: string[] }> = {
  "keeps a name that the member was not given yet": { observed: cloneSet(), want: ["a", "b"] },
  "keeps a name that the member still has": { observed: given("a", "a"), want: ["a", "b"] },
  "drops a name that the member has removed": { observed: given("a"), want: ["b"] },
  "drops all names for an object that does not exist": { observed: undefined, want: [] },
};
for (const [behaviour, { observed, want }] of Object.entries(done)) {
  test(`a copy ${behaviour}`, () => {
    expect(podsToDeleteOf(withoutDonePods(given("a,b", "a", "b"), observed))).toEqual(want);
  });
}

test("an OverridePolicy's own names are left as they are", () => {
  expect(podsToDeleteOf(withoutDonePods(cloneSet("a"), given("a")))).toEqual(["a"]);
});

test("the problem names absent pods and members that were not asked", () => {
  const problem = namedPodsProblem(cloneSet(), { pods: [["x", [], 5]], open: ["y"], unasked: ["rome"] });

  expect(problem).toEqual({
    status: "False",
    reason: "PodsNotFound",
    message:
      "spec.scaleStrategy.podsToDelete: no member has x of CloneSet web; remove the name; rome did not respond " +
      "when searched for y; a pod that is found there later is deleted then",
  });
  expect(namedPodsProblem(cloneSet(), { pods: [["x", ["oslo"], 5]] })).toBeUndefined();
});

test("the problem states how many names have no effect yet", () => {
  const names = Array.from({ length: 502 }, (_, index) => `pod-${index}`);
  const pods = names.slice(0, 500).map((name) => [name, ["oslo"], 5] as const);

  expect(namedPodsProblem(cloneSet(...names), { pods })).toEqual({
    status: "Unknown",
    reason: "TooManyNames",
    message:
      "spec.scaleStrategy.podsToDelete: 2 names after the first 500 have no effect yet; remove the names of pods that are gone",
  });
});
