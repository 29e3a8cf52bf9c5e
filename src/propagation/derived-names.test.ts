import { expect, test } from "vitest";
import { derivedNameProblem } from "./derived-names.ts";

test("most names, and those of RBAC with colons, are fine", () => {
  expect(derivedNameProblem("Deployment", "shop", "web")).toBeUndefined();
  expect(derivedNameProblem("ClusterRole", "", "system:Shop:reader")).toBeUndefined();
});

test("a name from which a binding's name of more than 253 characters follows is too long, and by how much is said", () => {
  expect(derivedNameProblem("ConfigMap", "shop", "a".repeat(242))).toBeUndefined();
  expect(derivedNameProblem("ConfigMap", "shop", "a".repeat(253))).toMatch(
    /has 253 characters, which is too long: .* would have up to 26\d, of 253 that there may be; shorten it by 1\d$/,
  );
});

test("a name is too long also when only that of its Works is", () => {
  expect(derivedNameProblem("Job", "shop", "a".repeat(249))).toContain("too long");
});

test("a name with characters that a binding's may not have is told", () => {
  expect(derivedNameProblem("ClusterRole", "", "shop_reader")).toContain("characters that the names of its binding");
});
