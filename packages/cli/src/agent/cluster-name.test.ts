import { expect, test } from "vitest";
import { checkClusterName } from "./cluster-name.ts";

const check = (name: string | undefined) => () => checkClusterName(name, "the name of the cluster on the hub");

test("a valid namespace name is accepted", () => {
  for (const name of ["paris", "eu-1", "a".repeat(63)]) expect(check(name)).not.toThrow();
});

test("a name that no hub accepts is rejected before any request", () => {
  for (const name of ["Bad_Name", "-paris", "eu.west", "a".repeat(64)])
    expect(check(name)).toThrow(`--cluster-name '${name}' is not a valid cluster name`);
  expect(check(undefined)).toThrow("--cluster-name NAME is required: the name of the cluster on the hub");
});
