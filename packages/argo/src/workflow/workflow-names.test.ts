/** Names compared with the expectations of Argo's own tests. */
import { expect, test } from "vitest";
import { displayNameOf, nodeIdOf, podNameOf } from "./workflow-names.ts";

test("pod names consist of the Workflow, the template and a hash of the node", () => {
  const names = [
    podNameOf("wfname", "nodename", "templatename"),
    podNameOf("wfname", "wfname", "templatename"),
    podNameOf("wfname", "nodename", ""),
  ];

  expect(names).toEqual(["wfname-templatename-1454367246", "wfname", "wfname-1454367246"]);
});

test("node ids consist of the Workflow and the same hash", () => {
  expect([nodeIdOf("wfname", "nodename"), nodeIdOf("wfname", "wfname")]).toEqual(["wfname-1454367246", "wfname"]);
});

test("the display name omits the node's path", () => {
  const boundary = { id: "wf", name: "wf", displayName: "wf", type: "Steps" as const };

  const shown = ["wf[0]", "wf[0].build", "wf.deploy", "wf[1].build(0:arm)"].map((name) =>
    displayNameOf(name, boundary),
  );

  expect(shown).toEqual(["[0]", "build", "deploy", "build(0:arm)"]);
});
