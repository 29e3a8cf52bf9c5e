import { expect, test } from "vitest";
import { FlotillaError, UsageError } from "@flotilla/base";
import { internalError, notFound } from "@flotilla/apimachinery";
import { askEach, reasonOf } from "./each-place.ts";
import type { Gathered } from "./each-place.ts";
import { problemsOf } from "./outcome.ts";
import type { Place } from "./members-places.ts";
import type { PlaceAnswer } from "./read-objects.ts";
import type { ServedType } from "./served-types.ts";

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

test("a member that did not respond is one line", () => {
  expect(problemsOf(gathered({ a: found() }, { b: "no response within 10 s" }), asked(["pod"]))).toEqual({
    lines: ["b: no response within 10 s"],
    notes: [],
    missing: [],
  });
});

test("a member that should have responded comes with the command to run next", () => {
  const { answers } = gathered({ a: found() });

  expect(
    problemsOf(
      { answers, failures: [{ place: place("b"), reason: "no response within 10 s", isAway: true }] },
      asked(["pod"]),
    ).lines,
  ).toEqual(["b: no response within 10 s; run 'flotilla doctor --clusters b' for details"]);
});

test("a type that only some members serve is not a problem, unless they were named", () => {
  const answers = gathered({ a: found(), b: unserved("pod") });

  expect(problemsOf(answers, asked(["pod"])).lines).toEqual([]);
  expect(problemsOf(answers, asked(["pod"], [], true)).lines).toEqual(["b: it does not serve the resource type 'pod'"]);
});

test("a type that no member serves is a usage error, with a suggestion", () => {
  const read = (): unknown => problemsOf(gathered({ a: unserved("podz"), b: unserved("podz") }), asked(["podz"]));

  expect(read).toThrow(UsageError);
  expect(read).toThrow("a, b do not serve the resource type 'podz' (did you mean 'pods'?)");
});

test("a type that no responding member serves is a failure while a member did not respond", () => {
  expect(problemsOf(gathered({ a: unserved("podz") }, { b: "away" }), asked(["podz"])).lines).toEqual([
    "b: away",
    "no cluster that responded serves the resource type 'podz' (did you mean 'pods'?)",
  ]);
});

test("a name is missing when no member has it", () => {
  expect(problemsOf(gathered({ a: found(["x"]), b: found(["x"]) }), asked(["pod"], ["x"])).missing).toEqual([
    "pod x in namespace shop not found on a, b",
  ]);
  expect(problemsOf(gathered({ a: found(["x"]), b: found() }), asked(["pod"], ["x"])).missing).toEqual([]);
});

const reasons: Record<string, { where: Place; error: Error; want: string }> = {
  "a rejection by the member is reported verbatim": {
    where: place("a", { mode: "pull" }),
    error: notFound({ group: "", resource: "pods" }, "x"),
    want: 'pods "x" not found',
  },
  "a pull-mode member may be unreachable from the hub": {
    where: place("a", { mode: "pull" }),
    error: internalError("no secret"),
    want: "the hub cannot reach this member, because it uses pull mode (no secret); use its own kubeconfig, for example 'kubectl --kubeconfig FILE get pods'",
  },
  "the hub's condition of a silent member is reported too": {
    where: place("a", { unready: "cluster is not reachable" }),
    error: new FlotillaError("NoAnswer", "no response within 10 s"),
    want: "no response within 10 s (the hub reports: cluster is not reachable)",
  },
  "an error is reported in one line": {
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

test("members are queried in parallel, up to a limit, and results keep their order", async () => {
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

test("an unreachable pull-mode member is a note, unless it was named", () => {
  const answers = gathered({ a: found() });
  answers.failures.push({ place: place("b", { mode: "pull" }), reason: "it pulls", isOutOfReach: true });

  expect(problemsOf(answers, asked(["pod"]))).toMatchObject({ lines: [], notes: ["b: it pulls"] });
  expect(problemsOf(answers, asked(["pod"], [], true))).toMatchObject({ lines: ["b: it pulls"], notes: [] });
});
