import { describe, expect, test } from "vitest";
import { createOwnerIndex } from "./owner-index.ts";

const DEPENDENT = "/core/configmaps/hub/default/d";
const ELSEWHERE = "/core/configmaps/other/default/d";
const OWNER = { apiVersion: "fish.example/v1", kind: "Trout", name: "root", uid: "u" };
const WAITING = { group: "fish.example", kind: "Trout", namespace: "default", name: "root", uid: "u" };

describe("the index of owners", () => {
  test("keeps that an owner was deleted or waits while its only dependent changes", () => {
    const index = createOwnerIndex();
    index.set(DEPENDENT, [OWNER]);
    index.noteDeleted("/core/pods/hub/default/root", "u");
    index.noteWaiting("hub", WAITING);

    index.set(DEPENDENT, [{ ...OWNER, blockOwnerDeletion: true }]);

    expect([index.wasDeleted("hub", "u"), index.isWaiting("hub", OWNER, "default")]).toEqual([true, true]);
  });

  test("forgets the owner in every cluster with its last dependent", () => {
    const index = createOwnerIndex();
    index.set(DEPENDENT, [OWNER]);
    index.set(ELSEWHERE, [OWNER]);
    index.noteDeleted("/core/pods/hub/default/root", "u");
    index.noteWaiting("hub", WAITING);

    index.remove(DEPENDENT);
    index.remove(ELSEWHERE);
    // Another object with the same owner.
    index.set(DEPENDENT, [OWNER]);

    expect([index.wasDeleted("hub", "u"), index.isWaiting("hub", OWNER, "default")]).toEqual([false, false]);
  });

  test.each([
    ["another name", { ...OWNER, name: "other" }, "default"],
    ["another kind", { ...OWNER, kind: "Salmon" }, "default"],
    ["another group", { ...OWNER, apiVersion: "meat.example/v1" }, "default"],
    ["another namespace", OWNER, "lake"],
  ])("an owner that waits is not the one of a reference with %s", (_, reference, namespace) => {
    const index = createOwnerIndex();
    index.set(DEPENDENT, [OWNER]);
    index.noteWaiting("hub", WAITING);

    expect(index.isWaiting("hub", reference, namespace)).toBe(false);
  });
});
