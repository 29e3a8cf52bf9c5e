import { expect, test } from "vitest";
import { FlotillaError, UsageError } from "../../base/index.ts";
import { internalError, notFound } from "../../machinery/index.ts";
import { askEach, reasonOf } from "./each-place.ts";
import type { Gathered } from "./each-place.ts";
import { problemsOf } from "./outcome.ts";
import type { Place } from "./places.ts";
import type { PlaceAnswer } from "./read-objects.ts";
import type { ServedType } from "./types.ts";

const PODS: ServedType = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  scope: "Namespaced",
  singular: "pod",
  shortNames: ["po"],
  categories: [],
  verbs: [],
};
const place = (name: string, more: Partial<Place> = {}): Place => ({ name, prefix: "", mode: "push", ...more });
const found = (missing: string[] = []): PlaceAnswer => ({
  found: [{ word: "pod", type: PODS, pages: [], resourceVersion: "", missing }],
  unserved: [],
});
const unserved = (word: string): PlaceAnswer => ({ found: [], unserved: [word] });
const gathered = (
  answers: Record<string, PlaceAnswer>,
  failures: Record<string, string> = {},
): Gathered<PlaceAnswer> => ({
  answers: Object.entries(answers).map(([name, answer]) => ({ place: place(name), answer })),
  failures: Object.entries(failures).map(([name, reason]) => ({ place: place(name), reason })),
});
const asked = (words: string[], names: string[] = [], areNamed = false) => ({
  targets: [{ words, names }],
  areNamed,
  namespace: "shop",
  known: () => [PODS],
});

test("a member that gave no answer is one line", () => {
  expect(problemsOf(gathered({ a: found() }, { b: "no answer within 10 s" }), asked(["pod"]))).toEqual({
    lines: ["b: no answer within 10 s"],
    notes: [],
    missing: [],
  });
});

test("a member that should have answered comes with where to look", () => {
  const { answers } = gathered({ a: found() });

  expect(
    problemsOf(
      { answers, failures: [{ place: place("b"), reason: "no answer within 10 s", isAway: true }] },
      asked(["pod"]),
    ).lines,
  ).toEqual(["b: no answer within 10 s; 'flotilla doctor --clusters b' says more"]);
});

test("a type that only some members serve is no problem, unless they were named", () => {
  const answers = gathered({ a: found(), b: unserved("pod") });

  expect(problemsOf(answers, asked(["pod"])).lines).toEqual([]);
  expect(problemsOf(answers, asked(["pod"], [], true)).lines).toEqual(["b: it does not serve a resource type 'pod'"]);
});

test("a type that nobody serves is wrong usage, with a hint", () => {
  const read = (): unknown => problemsOf(gathered({ a: unserved("podz"), b: unserved("podz") }), asked(["podz"]));

  expect(read).toThrow(UsageError);
  expect(read).toThrow("a, b do not serve a resource type 'podz' (did you mean 'pods'?)");
});

test("a type that nobody who answered serves is a failure while somebody did not answer", () => {
  expect(problemsOf(gathered({ a: unserved("podz") }, { b: "away" }), asked(["podz"])).lines).toEqual([
    "b: away",
    "no cluster that answered serves a resource type 'podz' (did you mean 'pods'?)",
  ]);
});

test("a name is missing when no member has it", () => {
  expect(problemsOf(gathered({ a: found(["x"]), b: found(["x"]) }), asked(["pod"], ["x"])).missing).toEqual([
    "there is no pod x in namespace shop on a, b",
  ]);
  expect(problemsOf(gathered({ a: found(["x"]), b: found() }), asked(["pod"], ["x"])).missing).toEqual([]);
});

const reasons: Record<string, { where: Place; error: Error; want: string }> = {
  "a refusal of the member is told as it is": {
    where: place("a", { mode: "pull" }),
    error: notFound({ group: "", resource: "pods" }, "x"),
    want: 'pods "x" not found',
  },
  "a member that pulls may have no way to it": {
    where: place("a", { mode: "pull" }),
    error: internalError("no secret"),
    want: "it pulls, and the hub has no way to it: Internal error occurred: no secret; use its own kubeconfig",
  },
  "what the hub knows of a member that says nothing is told too": {
    where: place("a", { unready: "cluster is not reachable" }),
    error: new FlotillaError("NoAnswer", "no answer within 10 s"),
    want: "no answer within 10 s (the hub says: cluster is not reachable)",
  },
  "what was said is told in one line": {
    where: place("a", { unready: "cluster is not reachable" }),
    error: new Error("bad\n  gateway"),
    want: "bad gateway",
  },
};
for (const [behaviour, { where, error, want }] of Object.entries(reasons)) {
  test(behaviour, () => {
    expect(reasonOf(where, error)).toBe(want);
  });
}

test("members are asked side by side, within a bound, and answers keep their order", async () => {
  let [running, most] = [0, 0];
  const places = Array.from({ length: 40 }, (_, index) => place(`m${index}`));

  const { answers, failures } = await askEach(places, new AbortController().signal, async ({ name }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (name === "m3") throw new Error("away");
    return name;
  });

  expect([most, answers.length, answers[3]?.answer, failures.map((failure) => failure.place.name)]).toEqual([
    16,
    39,
    "m4",
    ["m3"],
  ]);
});

test("a member that pulls and that the hub has no way to is a note, unless it was asked for by name", () => {
  const answers = gathered({ a: found() });
  answers.failures.push({ place: place("b", { mode: "pull" }), reason: "it pulls", isOutOfReach: true });

  expect(problemsOf(answers, asked(["pod"]))).toMatchObject({ lines: [], notes: ["b: it pulls"] });
  expect(problemsOf(answers, asked(["pod"], [], true))).toMatchObject({ lines: ["b: it pulls"], notes: [] });
});
