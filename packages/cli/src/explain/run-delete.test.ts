import { expect, test } from "vitest";
import { CustomResourceDefinition, Deployment, Namespace } from "@flotilla/kubernetes";
import type { DeletionContents } from "./deletion-contents.ts";
import { describeDeletion } from "./run-delete.ts";

const deletion = { kind: Deployment, namespace: "shop", name: "web" } as never;
const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };

test("a deletion names the members that lose the object", () => {
  const spec = {
    resource,
    clusters: [
      { name: "member1", replicas: 1 },
      { name: "member2", replicas: 3 },
    ],
  };

  expect(describeDeletion(deletion, { spec })).toBe(
    "- Deployment shop/web: on the hub and on member1 (1 replica), member2 (3 replicas)",
  );
});

test("a policy that preserves its objects is named", () => {
  const spec = { resource, clusters: [{ name: "member1" }], preserveResourcesOnDeletion: true };

  expect(describeDeletion(deletion, { spec })).toBe(
    "- Deployment shop/web: on the hub; its policy preserves it on member1",
  );
});

test("an object without a binding is on the hub only", () => {
  expect(describeDeletion(deletion, undefined)).toBe("- Deployment shop/web: on the hub only");
});

const place = (name: string, clusters: string[], preserveResourcesOnDeletion = false) => ({
  spec: {
    resource: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", namespace: "rel", name },
    clusters: clusters.map((cluster) => ({ name: cluster, replicas: 1 })),
    preserveResourcesOnDeletion,
  },
});
const ofNamespace = { kind: Namespace, name: "rel" } as never;
const ofDefinition = { kind: CustomResourceDefinition, name: "clonesets.apps.kruise.io" } as never;

const contained: Record<string, { deletion: never; contents: DeletionContents; want: string }> = {
  "names what a namespace contains, and the members that lose it": {
    deletion: ofNamespace,
    contents: {
      container: "Namespace",
      members: ["member1", "member2"],
      bindings: { items: [place("w", ["member1", "member2"]), place("kept", ["member1"], true)], isPartial: false },
    },
    want:
      "- Namespace rel: on the hub and on member1, member2, and everything in it: CloneSet w on member1 (1 " +
      "replica), member2 (1 replica); CloneSet kept (its policy preserves it on member1 (1 replica)). Objects in " +
      "it that no policy propagates, such as ManifestWorks, are deleted too and are not listed",
  },
  "counts the objects of a namespace beyond the first ten": {
    deletion: ofNamespace,
    contents: {
      container: "Namespace",
      members: [],
      bindings: { items: Array.from({ length: 12 }, (_, index) => place(`w${index}`, ["m"])), isPartial: true },
    },
    want:
      "- Namespace rel: on the hub, and everything in it: " +
      `${Array.from({ length: 10 }, (_, index) => `CloneSet w${index} on m (1 replica)`).join("; ")}; and at ` +
      "least 2 more propagated objects. Objects in it that no policy propagates, such as ManifestWorks, are " +
      "deleted too and are not listed",
  },
  "says that the contents of a namespace may not be listed": {
    deletion: ofNamespace,
    contents: { container: "Namespace" },
    want:
      "- Namespace rel: on the hub, and on members that have it (you may not list Works), and everything in it, " +
      "with its copies on members; its objects are not listed, because you may not list ResourceBindings in it",
  },
  "counts the objects of a CustomResourceDefinition, and names the members of their copies": {
    deletion: ofDefinition,
    contents: {
      container: "CustomResourceDefinition",
      kind: { name: "CloneSet", count: 3 },
      bindings: { items: [place("w", ["member2", "member1"]), place("kept", ["member3"], true)], isPartial: false },
    },
    want:
      "- CustomResourceDefinition clonesets.apps.kruise.io: on the hub, and all 3 CloneSets of the hub, with " +
      "their copies on member1, member2, except copies on member3 that policies preserve",
  },
  "names the only object of a CustomResourceDefinition": {
    deletion: ofDefinition,
    contents: {
      container: "CustomResourceDefinition",
      kind: { name: "CloneSet", count: 1 },
      bindings: { items: [place("w", ["member1"])], isPartial: true },
    },
    want:
      "- CustomResourceDefinition clonesets.apps.kruise.io: on the hub, and the only CloneSet of the hub, with " +
      "its copies on member1 (only the first 10000 bindings of the hub were read)",
  },
  "says that the objects of a CustomResourceDefinition were not counted": {
    deletion: ofDefinition,
    contents: { container: "CustomResourceDefinition", kind: { name: "CloneSet", count: undefined } },
    want:
      "- CustomResourceDefinition clonesets.apps.kruise.io: on the hub, and all objects of kind CloneSet (not " +
      "counted: you may not list them), with their copies on members (not counted: you may not list bindings)",
  },
};
test.each(Object.entries(contained))("a deletion %s", (_, { deletion: container, contents, want }) => {
  expect(describeDeletion(container, undefined, contents)).toBe(want);
});
