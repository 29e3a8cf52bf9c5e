import { expect, test } from "vitest";
import { derivedNameProblem } from "./derived-names.ts";

test("accepts most names, and RBAC names with colons", () => {
  expect(derivedNameProblem("Deployment", "shop", "web")).toBeUndefined();
  expect(derivedNameProblem("ClusterRole", "", "system:Shop:reader")).toBeUndefined();
});

test("reports by how much a name is too long when its binding's name exceeds 253 characters", () => {
  expect(derivedNameProblem("ConfigMap", "shop", "a".repeat(242))).toBeUndefined();
  expect(derivedNameProblem("ConfigMap", "shop", "a".repeat(253))).toMatch(
    /has 253 characters, which is too long: .* would have up to 26\d characters, but at most 253 are allowed; shorten it by 1\d$/,
  );
});

test("a name is also too long when only the name of its Works is", () => {
  expect(derivedNameProblem("Job", "shop", "a".repeat(249))).toContain("too long");
});

test("reports characters that a binding's name may not contain", () => {
  expect(derivedNameProblem("ClusterRole", "", "shop_reader")).toContain(
    "characters that the derived names of its binding",
  );
});
