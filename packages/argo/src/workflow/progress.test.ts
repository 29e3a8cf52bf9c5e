import { expect, test } from "vitest";
import { NodeTable } from "./node-table.ts";
import { noteProgress } from "./progress.ts";

type Given = Record<
  string,
  { type?: "Pod" | "DAG" | "StepGroup"; phase?: "Running" | "Succeeded" | "Failed"; children?: string[] }
>;

/** The progress of every node and of the Workflow. */
function progressOf(given: Given): Record<string, string | undefined> {
  const nodes = new NodeTable(
    "wf",
    Object.fromEntries(
      Object.entries(given).map(([id, node]) => [id, { id, name: id, displayName: id, type: "Pod" as const, ...node }]),
    ),
    0,
  );
  const all = noteProgress(nodes);
  return { ...Object.fromEntries(nodes.all().map(({ id, progress }) => [id, progress])), all };
}

test("counts a pod that is reachable on two paths once", () => {
  const got = progressOf({
    dag: { type: "DAG", children: ["a", "b"] },
    a: { phase: "Succeeded", children: ["c"] },
    b: { phase: "Failed", children: ["c"] },
    c: { phase: "Running" },
  });

  expect(got).toEqual({ dag: "1/3", a: "1/1", b: "0/1", c: "0/1", all: "1/3" });
});

test("a group includes the nodes after it, and a group without pods has no progress", () => {
  const got = progressOf({
    first: { type: "StepGroup", children: ["a"] },
    a: { phase: "Succeeded", children: ["second"] },
    second: { type: "StepGroup", children: ["b"] },
    b: {},
    empty: { type: "StepGroup" },
  });

  expect(got).toEqual({ first: "1/2", a: "1/1", second: "0/1", b: "0/1", empty: undefined, all: "1/2" });
});

test("counts more pods than a word has bits", () => {
  const pods = Array.from({ length: 100 }, (_, index) => `p${index}`);

  const got = progressOf({
    dag: { type: "DAG", children: pods },
    ...Object.fromEntries(
      pods.map((id, index) => [id, { phase: index < 65 ? ("Succeeded" as const) : ("Running" as const) }]),
    ),
  });

  expect(got["dag"]).toBe("65/100");
});

test("tolerates cycles of children and missing children", () => {
  const got = progressOf({
    a: { type: "DAG", children: ["b", "gone"] },
    b: { type: "DAG", children: ["a", "c"] },
    c: { phase: "Succeeded" },
  });

  expect(got["all"]).toBe("1/1");
});
