import { expect, test } from "vitest";
import { planPut } from "./put-object.ts";

const object = (metadata: object) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", ...metadata },
});

test("the object that is put keeps the member's labels and annotations, except those that an earlier manifest recorded and this one lacks", () => {
  const observed = object({
    resourceVersion: "7",
    finalizers: ["theirs"],
    labels: { theirs: "yes", dropped: "yes", changed: "no" },
    annotations: {
      "resourcetemplate.karmada.io/managed-labels": "changed,dropped",
      "resourcetemplate.karmada.io/managed-annotations": "old,resourcetemplate.karmada.io/managed-labels",
      old: "1",
      note: "theirs",
    },
  });

  const put = planPut(object({ finalizers: ["ours"], labels: { changed: "yes" }, annotations: {} }), observed);

  expect(put.metadata).toEqual({
    name: "settings",
    resourceVersion: "7",
    finalizers: ["theirs"],
    labels: { theirs: "yes", changed: "yes" },
    annotations: {
      "resourcetemplate.karmada.io/managed-annotations": "old,resourcetemplate.karmada.io/managed-labels",
      note: "theirs",
    },
  });
});
