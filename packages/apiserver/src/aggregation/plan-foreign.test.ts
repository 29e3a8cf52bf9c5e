import { describe, expect, test } from "vitest";
import { planDependent, waitsFor } from "./plan-foreign.ts";

const owner = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: name });
const makeObject = (...owners: string[]) => ({ owners: owners.map(owner), finalizers: [], isDeleting: false });
const NO_DEPENDENTS = { exist: false, someWait: false };

describe("an object", () => {
  test.each<[string, Parameters<typeof planDependent>, ReturnType<typeof planDependent>]>([
    ["stays without owners", [makeObject(), [], NO_DEPENDENTS], undefined],
    ["stays with an owner that exists", [makeObject("a"), ["solid"], NO_DEPENDENTS], undefined],
    [
      "loses the owners that are gone, and stays",
      [makeObject("a", "b"), ["absent", "solid"], NO_DEPENDENTS],
      { type: "setOwners", owners: [owner("b")] },
    ],
    [
      "is deleted after its last owner",
      [makeObject("a", "b"), ["absent", "absent"], NO_DEPENDENTS],
      { type: "delete", propagation: "Background" },
    ],
    [
      "is deleted as its finalizers say",
      [{ ...makeObject("a"), finalizers: ["orphan"] }, ["absent"], NO_DEPENDENTS],
      { type: "delete", propagation: "Orphan" },
    ],
    [
      "is deleted after its own dependents when its owner waits for it",
      [makeObject("a"), ["waiting"], { exist: true, someWait: false }],
      { type: "delete", propagation: "Foreground" },
    ],
    [
      "does not wait for dependents that wait for it",
      [makeObject("a"), ["waiting"], { exist: true, someWait: true }],
      { type: "delete", propagation: "Background" },
    ],
    [
      "that is being deleted is left alone",
      [{ ...makeObject("a"), isDeleting: true }, ["absent"], NO_DEPENDENTS],
      undefined,
    ],
  ])("%s", (_, input, want) => {
    expect(planDependent(...input)).toEqual(want);
  });
});

test.each([
  [{ isDeleting: false, finalizers: ["orphan"] }, undefined],
  [{ isDeleting: true, finalizers: ["example.com/x"] }, undefined],
  [{ isDeleting: true, finalizers: ["orphan"] }, "orphaning"],
  [{ isDeleting: true, finalizers: ["foregroundDeletion"] }, "dependents"],
])("%j waits for %s", (object, want) => {
  expect(waitsFor(object)).toBe(want);
});
