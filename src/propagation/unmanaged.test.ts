import { expect, test } from "vitest";
import type { ResourceBinding } from "../api/index.ts";
import { makeBinding, makeDeployment } from "../testing/index.ts";
import { dependencyOn, isUnmanagedOn, planLetGo } from "./unmanaged.ts";

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
    annotations: note !== undefined ? { "flotilla.dev/let-go-for": note } : undefined,
  },
  spec: { resource: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" }, ...change },
});

const values: Record<string, [value: string | undefined, isThere: boolean]> = {
  "no annotation lets nothing go": [undefined, false],
  "`true` means every member": ["true", true],
  "`false` means none": ["false", false],
  "names mean these members": ["rome, oslo", true],
  "other names mean others": ["rome", false],
};
for (const [behaviour, [value, isThere]] of Object.entries(values))
  test(behaviour, () => expect(isUnmanagedOn(value, "oslo")).toBe(isThere));

test("what is noted are the members on which those who need it were let go", () => {
  expect(
    planLetGo(undefined, [
      requirer("web", "true", "oslo", "rome"),
      requirer("api", "rome,paris", "oslo", "rome"),
      requirer("job", undefined, "oslo"),
    ]),
  ).toBe('{"shop/api-deployment":"rome","shop/web-deployment":"oslo,rome"}');
  expect(planLetGo(undefined, [requirer("job", undefined, "oslo")])).toBeUndefined();
});

test("a note of one who is gone stays, and that of one who was taken back goes", () => {
  const existing = needed('{"shop/gone-deployment":"oslo","shop/web-deployment":"oslo"}');

  expect(planLetGo(existing, [requirer("web", undefined, "oslo")])).toBe('{"shop/gone-deployment":"oslo"}');
});

test("notes are bounded: too many members, or too many who were let go, mean everywhere", () => {
  const clusters = Array.from({ length: 30 }, (_, index) => `c${index}`);
  const many = Array.from({ length: 60 }, (_, index) => requirer(`w${index}`, "true", "oslo"));

  expect(planLetGo(undefined, [requirer("web", "true", ...clusters)])).toBe('{"shop/web-deployment":"true"}');
  expect(planLetGo(undefined, many)).toBe('{"":"true"}');
});

const web = { namespace: "shop", name: "web-deployment", clusters: [{ name: "oslo" }] };
const api = { namespace: "shop", name: "api-deployment", clusters: [{ name: "oslo" }] };
const dependencies: Record<string, [binding: ResourceBinding, want: "released" | "left" | undefined]> = {
  "without a note a copy is as any other": [needed(undefined, { requiredBy: [web] }), undefined],
  "it is released where everybody who needs it was let go": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web] }),
    "released",
  ],
  "it is left where somebody was let go and another was not": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web, api] }),
    "left",
  ],
  "it is left for one who is gone": [needed('{"shop/web-deployment":"oslo"}', { requiredBy: [api] }), "left"],
  "it is as any other where nobody was let go": [
    needed('{"shop/web-deployment":"rome"}', { requiredBy: [web] }),
    undefined,
  ],
  "a policy of its own keeps it managed": [
    needed('{"shop/web-deployment":"oslo"}', { requiredBy: [web], placement: {}, clusters: [{ name: "oslo" }] }),
    "left",
  ],
  "a note that is no JSON says nothing": [needed("{", { requiredBy: [web] }), undefined],
};
for (const [behaviour, [binding, want]] of Object.entries(dependencies))
  test(behaviour, () => expect(dependencyOn(binding, "oslo")).toBe(want));
