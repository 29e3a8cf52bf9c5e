import { omitZero } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { isAllHooked, isHooked, nextState, prepareUpdateAgain } from "./lifecycle.ts";
import type { Lifecycle, LifecycleFacts } from "./lifecycle.ts";

const STATE = "lifecycle.apps.kruise.io/state";
function makePod(state: string, labels: Record<string, string> = {}, finalizers: string[] = []): ReadonlyPod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", labels: { ...labels, ...omitZero({ [STATE]: state }) }, finalizers },
    spec: { containers: [] },
  };
}
const HOOK = { labelsHandler: { serving: "yes" }, finalizersHandler: ["example.com/hold"] };

describe("A hook", () => {
  const cases: Record<string, { pod: ReadonlyPod; any: boolean; all: boolean }> = {
    "without its handlers does not block a pod": { pod: makePod("Normal", { serving: "no" }), any: false, all: false },
    "with one of its handlers blocks a pod": { pod: makePod("Normal", { serving: "yes" }), any: true, all: false },
    "with all of its handlers makes a pod Normal": {
      pod: makePod("Normal", { serving: "yes" }, ["example.com/hold"]),
      any: true,
      all: true,
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, any, all }) => {
    expect([isHooked(HOOK, pod), isAllHooked(HOOK, pod)]).toEqual([any, all]);
  });
});

describe("A pod", () => {
  const facts = (lifecycle?: Lifecycle, rest: Partial<LifecycleFacts> = {}): LifecycleFacts => ({
    lifecycle,
    isPlaced: false,
    isUpdated: false,
    isComplete: () => false,
    ...rest,
  });
  const serving = { inPlaceUpdate: { labelsHandler: { serving: "yes" } } };
  const cases: Record<string, { pod: ReadonlyPod; facts: LifecycleFacts; want: string | undefined }> = {
    "that is new waits for its node": { pod: makePod("PreparingNormal"), facts: facts(), want: undefined },
    "that is new becomes Normal once it is placed": {
      pod: makePod("PreparingNormal"),
      facts: facts(undefined, { isPlaced: true }),
      want: "Normal",
    },
    "that is new waits for a preNormal hook instead of a node": {
      pod: makePod("PreparingNormal"),
      facts: facts({ preNormal: HOOK }, { isPlaced: true }),
      want: undefined,
    },
    "whose template was reverted in PreparingUpdate is Normal": {
      pod: makePod("PreparingUpdate", { serving: "yes" }),
      facts: facts(serving, { isUpdated: true }),
      want: "Normal",
    },
    "whose template was reverted after its handler was removed is Updated": {
      pod: makePod("PreparingUpdate"),
      facts: facts(serving, { isUpdated: true }),
      want: "Updated",
    },
    "that is Updating waits for its containers": { pod: makePod("Updating"), facts: facts(), want: undefined },
    "that was updated without hooks is Normal": {
      pod: makePod("Updating"),
      facts: facts(undefined, { isComplete: () => true }),
      want: "Normal",
    },
    "that was updated waits for its handlers": {
      pod: makePod("Updated", { serving: "no" }),
      facts: facts(serving),
      want: undefined,
    },
    "that was updated is Normal once it has its handlers again": {
      pod: makePod("Updated", { serving: "yes" }),
      facts: facts(serving),
      want: "Normal",
    },
    "that is Normal stays Normal": {
      pod: makePod("Normal"),
      facts: facts(serving, { isUpdated: true, isPlaced: true }),
      want: undefined,
    },
    "in PreparingDelete does not leave that state automatically": {
      pod: makePod("PreparingDelete"),
      facts: facts(),
      want: undefined,
    },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { pod, facts: given, want }) => {
    expect(nextState(pod, given)).toBe(want);
  });
});

test("another update restores the handlers that the user removed for the previous one", () => {
  const after = prepareUpdateAgain(makePod("Updated"), HOOK, Date.UTC(2024, 4, 1, 12));

  expect(after.metadata.labels).toEqual({ [STATE]: "PreparingUpdate", serving: "yes" });
  expect(after.metadata.finalizers).toEqual(["example.com/hold"]);
});
