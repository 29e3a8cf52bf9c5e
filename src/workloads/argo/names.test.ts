/** Names against those that Argo's own tests expect. */
import { expect, test } from "vitest";
import { displayNameOf, nodeIdOf, podNameOf } from "./names.ts";

test("pods are called after their Workflow, their template and a hash of their node", () => {
  const names = [
    podNameOf("wfname", "nodename", "templatename"),
    podNameOf("wfname", "wfname", "templatename"),
    podNameOf("wfname", "nodename", ""),
  ];

  expect(names).toEqual(["wfname-templatename-1454367246", "wfname", "wfname-1454367246"]);
});

test("nodes are called after their Workflow and the same hash", () => {
  expect([nodeIdOf("wfname", "nodename"), nodeIdOf("wfname", "wfname")]).toEqual(["wfname-1454367246", "wfname"]);
});

test("the name that is shown leaves out where the node is", () => {
  const boundary = { id: "wf", name: "wf", displayName: "wf", type: "Steps" as const };

  const shown = ["wf[0]", "wf[0].build", "wf.deploy", "wf[1].build(0:arm)"].map((name) =>
    displayNameOf(name, boundary),
  );

  expect(shown).toEqual(["[0]", "build", "deploy", "build(0:arm)"]);
});
