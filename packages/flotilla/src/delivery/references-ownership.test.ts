import { expect, test } from "vitest";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import { references } from "./references-ownership.ts";

const holder = (name: string): OwnerReference => ({
  apiVersion: "work.open-cluster-management.io/v1",
  kind: "AppliedManifestWork",
  name,
  uid: `uid-of-${name}`,
});
const object = (metadata: Partial<KubernetesObject["metadata"]> = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "prices", uid: "u", ...metadata },
});
const heldBy = (...names: string[]): KubernetesObject => object({ ownerReferences: names.map(holder) });
const web = references({ reference: holder("web"), isHeld: true, isDelivered: true });

const removals: Record<
  string,
  { observed: KubernetesObject; mode?: "delete" | "release"; uid?: string; want: unknown }
> = {
  "deletes an object of its last holder": { observed: heldBy("web"), want: "delete" },
  "leaves an object that it does not hold": { observed: heldBy("other"), want: "leave" },
  "leaves a new object of the same name": { observed: heldBy("web"), uid: "recorded", want: "leave" },
  "removes its reference while there are other holders": {
    observed: heldBy("web", "other"),
    want: { patch: { metadata: { ownerReferences: [holder("other")], uid: "u", resourceVersion: null } } },
  },
  "removes its reference on release": {
    observed: heldBy("web"),
    mode: "release",
    want: { patch: { metadata: { ownerReferences: null, uid: "u", resourceVersion: null } } },
  },
};

for (const [behaviour, { observed, mode = "delete", uid = "u", want }] of Object.entries(removals)) {
  test(behaviour, () => {
    expect(web.planRemoval(observed, { mode, uid })).toEqual(want);
  });
}

test("an apply names all holders of the object", () => {
  expect(web.withOwners(object(), heldBy("other", "web")).metadata.ownerReferences).toEqual([
    holder("other"),
    holder("web"),
  ]);
  expect(web.withOwners(object()).metadata.ownerReferences).toEqual([holder("web")]);
});

test("a holder that does not own the object loses its reference", () => {
  const orphaning = references({ reference: holder("web"), isHeld: false, isDelivered: true });

  expect(orphaning.missingReferences(heldBy("web", "other"))).toEqual([holder("other")]);
  expect(orphaning.missingReferences(heldBy("other"))).toBeUndefined();
});
