import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { UnknownKindError } from "@flotilla/client";
import type { KindResolver } from "@flotilla/client";
import { makeCloneSet } from "@flotilla/testing/builders.ts";
import { createServedKinds, inServedVersion } from "./served-kinds.ts";

const v1alpha1 = dynamicKind({
  group: "apps.kruise.io",
  version: "v1alpha1",
  kind: "CloneSet",
  plural: "clonesets",
  scope: "Namespaced",
});
const member = (): KindResolver & { asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    known: () => undefined,
    forget: () => {},
    async resolve({ apiVersion, kind }) {
      asked.push(apiVersion);
      if (apiVersion !== "apps.kruise.io/v1alpha1" || kind !== "CloneSet")
        throw new UnknownKindError("paris", apiVersion, kind);
      return v1alpha1;
    },
  };
};
const ref = { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" };

test("resolves a kind in another version where the member lacks the requested one, and caches that", async () => {
  const asked = member();
  const kinds = createServedKinds(asked);

  expect(await kinds.resolve(ref)).toBe(v1alpha1);
  expect(kinds.known(ref)).toBe(v1alpha1);
  await kinds.resolve(ref);
  expect(asked.asked).toEqual(["apps.kruise.io/v1beta1", "apps.kruise.io/v1alpha1"]);

  kinds.forget(ref);
  expect(kinds.known(ref)).toBeUndefined();
});

test("a kind that cannot be converted is unknown in the requested version", async () => {
  await expect(createServedKinds(member()).resolve({ apiVersion: "example.dev/v1", kind: "Widget" })).rejects.toThrow(
    "does not serve Widget in example.dev/v1",
  );
});

test("rejects a manifest with fields that the member's version lacks, instead of dropping them", () => {
  const manifest = makeCloneSet("shop/web")
    .with(({ spec }) => (spec.scaleStrategy = { excludePreparingDelete: true }))
    .build();

  expect(() => inServedVersion(manifest, v1alpha1)).toThrow(
    "CloneSet web is served there only as apps.kruise.io/v1alpha1, which lacks the fields spec.scaleStrategy.excludePreparingDelete",
  );
});

test("converts a manifest with its kind's conversion, once", () => {
  const manifest = makeCloneSet("shop/web")
    .with(({ spec }) => (spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 2 } } as never))
    .build();

  const converted = inServedVersion(manifest, v1alpha1);

  expect(converted).toMatchObject({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    spec: { updateStrategy: { partition: 2 } },
  });
  expect(inServedVersion(manifest, v1alpha1)).toBe(converted);
});
