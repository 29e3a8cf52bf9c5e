import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { marks } from "./marks-ownership.ts";

const OWNER = "karmada-es-paris/web";
const object = (metadata: Partial<KubernetesObject["metadata"]> = {}): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "prices", ...metadata },
});
const marked = (work: string, id = "1"): KubernetesObject =>
  object({
    labels: { "karmada.io/managed": "true", "work.karmada.io/permanent-id": id },
    annotations: { "work.karmada.io/namespace": "karmada-es-paris", "work.karmada.io/name": work },
  });
const held = object({
  ownerReferences: [
    { apiVersion: "work.open-cluster-management.io/v1", kind: "AppliedManifestWork", name: "h-web", uid: "u" },
  ],
});
const released = object({ annotations: { "flotilla.dev/released-from": OWNER } });

const conflicts: Record<string, { observed: KubernetesObject; adopt?: boolean; want: string }> = {
  "changes an object of its own Work": { observed: marked("web"), want: "none" },
  "leaves an object of another Work alone": { observed: marked("other"), want: "already exists" },
  "leaves an unmarked object alone": { observed: object(), want: "already exists" },
  "adopts an unmarked object if allowed": { observed: object(), adopt: true, want: "none" },
  "reclaims an object that it released": { observed: released, want: "none" },
  "leaves an object of a ManifestWork alone, even if it may adopt": {
    observed: held,
    adopt: true,
    want: "belongs to a ManifestWork",
  },
};

for (const [behaviour, { observed, adopt, want }] of Object.entries(conflicts)) {
  test(behaviour, () => {
    const conflict = marks({ owner: OWNER, adopt }).conflictWith(observed, object(), {
      cluster: "paris",
      mode: "apply",
    });

    expect(conflict ?? "none").toContain(want);
  });
}

test("deletes objects of its own Work only, and none of a later Work of the same name", () => {
  const removal = { mode: "delete" } as const;

  expect(marks({ owner: OWNER, ownerId: "1" }).planRemoval(marked("web"), removal)).toBe("delete");
  expect(marks({ owner: OWNER, ownerId: "1" }).planRemoval(marked("other"), removal)).toBe("leave");
  expect(marks({ owner: OWNER, ownerId: "1" }).planRemoval(marked("web", "2"), removal)).toBe("leave");
});

test("a released object loses its marks, and records an owner that may return", () => {
  const plan = marks({ owner: OWNER }).planRemoval(marked("web"), { mode: "release", mayReturn: true });

  expect(plan).toEqual({
    patch: {
      metadata: {
        labels: { "karmada.io/managed": null, "work.karmada.io/permanent-id": null },
        annotations: {
          "work.karmada.io/namespace": null,
          "work.karmada.io/name": null,
          "flotilla.dev/released-from": OWNER,
        },
      },
    },
  });
});
