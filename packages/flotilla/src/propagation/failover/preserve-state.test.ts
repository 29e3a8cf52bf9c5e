import { expect, test } from "vitest";
import { preserveState } from "./preserve-state.ts";

const STATUS = {
  replicas: 3,
  phase: "Running",
  big: 1_000_000,
  isReady: true,
  items: [{ name: "a" }, { name: "b" }],
  text: "not a label!",
  nested: { a: 1 },
};

test.each([
  { jsonPath: "{ .replicas }", want: "3" },
  { jsonPath: "{.phase}", want: "Running" },
  { jsonPath: ".phase", want: "Running" },
  { jsonPath: "{.big}", want: "1000000" },
  { jsonPath: "{.isReady}", want: "true" },
  { jsonPath: "at-{.replicas}-{.phase}", want: "at-3-Running" },
  { jsonPath: '{.items[?(@.name=="b")].name}', want: "b" },
])("$jsonPath becomes the label value $want", ({ jsonPath, want }) => {
  expect(preserveState([{ aliasLabelName: "shop/state", jsonPath }], STATUS)).toEqual({
    labels: { "shop/state": want },
  });
});

test.each([
  { jsonPath: "{.missing}", problem: "the state s cannot be preserved: .missing is not in its status" },
  { jsonPath: "{.items[0", problem: "the state s cannot be preserved: " },
  { jsonPath: "{range .items[*]}{.name}{end}", problem: "the state s cannot be preserved: " },
  { jsonPath: "{.text}", problem: 'the state s cannot be preserved: "not a label!" cannot be a label: ' },
  { jsonPath: "{.nested}", problem: 'the state s cannot be preserved: "{\\"a\\":1}" cannot be a label: ' },
])("$jsonPath cannot be preserved, and the problem is reported", ({ jsonPath, problem }) => {
  expect(preserveState([{ aliasLabelName: "s", jsonPath }], STATUS)).toEqual({
    problem: expect.stringContaining(problem),
  });
});

test("state cannot be preserved without a status", () => {
  expect(preserveState([], undefined)).toEqual({
    problem: "its status has not been collected yet, and state must be preserved",
  });
});

test("a hostile label name is treated as a plain name", () => {
  const state = preserveState([{ aliasLabelName: "__proto__", jsonPath: "{.phase}" }], STATUS);

  expect("labels" in state && Object.getPrototypeOf(state.labels)).toBe(Object.prototype);
});
