import { expect, test } from "vitest";
import { readKruiseCatalogue, selectSpecs } from "./kruise.ts";

const specs = [
  { suite: "apps/v1alpha1/sidecarset", name: "SidecarSet injects" },
  { suite: "apps/v1beta1/sidecarset", name: "SidecarSet injects" },
  { suite: "apps/v1alpha1/cloneset", name: "CloneSet scales" },
];

test("specs with the same name in two files are two specs", () => {
  const catalogue = specs.slice(0, 2);

  expect(selectSpecs(catalogue, specs).map(({ suite, fullName }) => `${suite} ${fullName}`)).toEqual([
    "apps/v1alpha1/sidecarset SidecarSet injects",
    "apps/v1beta1/sidecarset SidecarSet injects",
  ]);
});

test("a focus matches specs by file and by name, listed or not, and keeps their listed properties", () => {
  const catalogue = [{ suite: "apps/v1alpha1/cloneset", name: "CloneSet scales", needs: "hardware" }];

  expect(selectSpecs(catalogue, specs, /cloneset|v1beta1/).map(({ suite, needs }) => [suite, needs])).toEqual([
    ["apps/v1beta1/sidecarset", undefined],
    ["apps/v1alpha1/cloneset", "hardware"],
  ]);
});

test("a listed spec that the suite lacks is reported by name", () => {
  expect(() => selectSpecs([{ suite: "apps/v1alpha1/cloneset", name: "CloneSet flies" }], specs)).toThrow(
    "apps/v1alpha1/cloneset CloneSet flies",
  );
});

test("the list names each spec once", () => {
  const ids = readKruiseCatalogue().map(({ suite, name }) => `${suite} ${name}`);

  expect(ids).toHaveLength(209);
  expect(new Set(ids).size).toBe(ids.length);
});
