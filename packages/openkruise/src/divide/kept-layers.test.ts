import { describe, expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { keptByMember, borrowedTemplate } from "./kept-layers.ts";
import {
  exceededByCreation,
  KEPT_TEMPLATE,
  layersOf,
  linkLayers,
  stageTextOf,
  withMemberStage,
  type KeptTemplate,
  type MemberStage,
} from "./member-stage.ts";

const NEXT = "f".repeat(16);
const digestFor = (letter: string): string => letter.repeat(16);
const layer = (letter: string, more: Partial<KeptTemplate> = {}): KeptTemplate => ({
  digest: digestFor(letter),
  template: { image: letter },
  ...more,
});
const base = layer("1");

/** A member with `updated` of three pods at release `a`. */
function member(cluster: string, updated: number, kept: KeptTemplate | undefined, more: Partial<Share> = {}): Share {
  const stage: MemberStage = { digest: digestFor("a"), partition: 3, updated, replicas: 3, isBackward: false };
  const copy = withMemberStage(
    {
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "CloneSet",
      metadata: { name: "web", annotations: { [KEPT_TEMPLATE]: JSON.stringify(kept) } },
      spec: { replicas: 3, template: { image: "a" } },
    },
    stage,
  );
  const observed: Json = {
    replicas: 3,
    updatedReplicas: updated,
    rolloutStage: stageTextOf(copy) ?? "",
  };
  return { cluster, replicas: 3, copy, observed, ...more };
}

const letters = (kept: KeptTemplate | undefined): string[] => layersOf(kept).map(({ digest }) => digest.slice(0, 1));

describe("the template that a member without pods starts with", () => {
  test("is that of the last complete release where the object is gone", () => {
    const kept = linkLayers([layer("c", { pods: 1, isMixed: true }), layer("b", { pods: 0 }), base]);
    const gone = member("m1", 1, kept, { isGone: true, observed: undefined });
    expect(keptByMember([gone], digestFor("a"), true)).toEqual([base]);
    expect(keptByMember([gone], NEXT, true)).toEqual([base]);
    expect(keptByMember([gone], base.digest, true)).toEqual([undefined]);
  });

  test("is one that has pods where no complete one is kept", () => {
    const kept = linkLayers([layer("c", { pods: 0, isMixed: true }), layer("b", { pods: 2 }), layer("d", { pods: 0 })]);
    const gone = member("m1", 1, kept, { isGone: true, observed: undefined });
    expect(keptByMember([gone], digestFor("a"), true).map(letters)).toEqual([["b"]]);
  });

  test("is not an abandoned release that reached all pods of one member", () => {
    const shares = [member("m1", 3, base), member("m2", 1, base)];
    const kept = keptByMember(shares, NEXT, true);
    expect(kept.map(letters)).toEqual([["a"], ["a", "1"]]);
    expect(borrowedTemplate(shares, kept)?.digest).toBe(base.digest);
  });
});

test("the template of the last complete release is kept beside any number of unfinished ones", () => {
  const unfinished = ["a", "b", "c", "d", "e"].map((letter) => layer(letter, { pods: 1 }));
  expect(letters(linkLayers([...unfinished, base]))).toEqual(["a", "b", "c", "1"]);
});

describe("a copy that rolls pods back in steps, where the object is gone", () => {
  const kept = JSON.stringify(linkLayers([layer("b", { pods: 1, isMixed: true }), base]));
  const copyAt = (position: number): NonNullable<Share["copy"]> => {
    const step = { layer: position, keeps: 1 };
    const stage = { digest: digestFor("a"), partition: 3, updated: 0, replicas: 3, isBackward: true, step };
    return withMemberStage({ apiVersion: "v1", kind: "CloneSet", metadata: { name: "web" } }, stage);
  };

  test("is not created with the template of an unfinished release", () => {
    expect(exceededByCreation(copyAt(0), kept)).toEqual({ asked: 1, all: 3 });
  });

  test("is created with the template of the last complete one", () => {
    expect(exceededByCreation(copyAt(1), kept)).toBeUndefined();
  });
});
