import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { dependencyOn, isUnmanagedOn, planUnmanagedFor } from "./unmanaged.ts";

const requirer = (name: string, unmanaged: string | undefined, ...clusters: string[]): ResourceBinding =>
  makeBinding(makeDeployment(`shop/${name}`).build())
    .targets(...clusters)
    .with(
      ({ metadata }) =>
        unmanaged !== undefined &&
        (metadata.annotations = { ...metadata.annotations, "flotilla.dev/unmanaged": unmanaged }),
    )
    .build();
const needed = (note: string | undefined, change: Partial<ResourceBinding["spec"]> = {}): ResourceBinding => ({
  apiVersion: "work.karmada.io/v1alpha2",
  kind: "ResourceBinding",
  metadata: {
    namespace: "shop",
    name: "settings-configmap",
    annotations: note !== undefined ? { "flotilla.dev/unmanaged-for": note } : undefined,
  },
  spec: { resource: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" }, ...change },
});

const values: Record<string, [value: string | undefined, isThere: boolean]> = {
  "without the annotation nothing is unmanaged": [undefined, false],
  "`true` selects every member": ["true", true],
  "`false` selects none": ["false", false],
  "names select these members": ["rome, oslo", true],
  "other names do not select the member": ["rome", false],
};
for (const [behaviour, [value, isThere]] of Object.entries(values))
  test(behaviour, () => expect(isUnmanagedOn(value, "oslo")).toBe(isThere));

test("records the members on which requirers are unmanaged", () => {
  expect(
    planUnmanagedFor(undefined, [
      requirer("web", "true", "oslo", "rome"),
      requirer("api", "rome,paris", "oslo", "rome"),
      requirer("job", undefined, "oslo"),
    ]),
  ).toBe('{"shop/api-deployment":"rome","shop/web-deployment":"oslo,rome"}');
  expect(planUnmanagedFor(undefined, [requirer("job", undefined, "oslo")])).toBeUndefined();
});

test("the record of a deleted requirer stays, and that of a managed one is removed", () => {
  const existing = needed('{"shop/gone-deployment":"oslo","shop/web-deployment":"oslo"}');

  expect(planUnmanagedFor(existing, [requirer("web", undefined, "oslo")])).toBe('{"shop/gone-deployment":"oslo"}');
});

test("records are limited: too many members, or too many requirers, mean everywhere", () => {
  const clusters = Array.from({ length: 30 }, (_, index) => `c${index}`);
  const many = Array.from({ length: 60 }, (_, index) => requirer(`w${index}`, "true", "oslo"));

  expect(planUnmanagedFor(undefined, [requirer("web", "true", ...clusters)])).toBe('{"shop/web-deployment":"true"}');
  expect(planUnmanagedFor(undefined, many)).toBe('{"":"true"}');
});

const web = { namespace: "shop", name: "web-deployment", clusters: [{ name: "oslo" }] };
const api = { namespace: "shop", name: "api-deployment", clusters: [{ name: "oslo" }] };
const dependencies: Record<string, [binding: ResourceBinding, want: "released" | "left" | undefined]> = {
  "a dependency without a record is managed": [needed(undefined, { requiredBy: [web] }), undefined],
  "a dependency is released where every requirer is unmanaged": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web] }),
    "released",
  ],
  "a dependency is left where one requirer is unmanaged and another is managed": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web, api] }),
    "left",
  ],
  "a dependency is left for a deleted unmanaged requirer": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [api] }),
    "left",
  ],
  "a dependency is managed where no requirer is unmanaged": [
    needed('{"shop/web-deployment":"rome"}', { requiredBy: [web] }),
    undefined,
  ],
  "a dependency with its own policy is left, not released": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web], placement: {}, clusters: [{ name: "oslo" }] }),
    "left",
  ],
  "a record that is invalid JSON is ignored": [needed("{", { requiredBy: [web] }), undefined],
};
for (const [behaviour, [binding, want]] of Object.entries(dependencies))
  test(behaviour, () => expect(dependencyOn(binding, "oslo")).toBe(want));
