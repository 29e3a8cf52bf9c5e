import { expect, test } from "vitest";
import { checkClusterName } from "./cluster-name.ts";

const check = (name: string | undefined) => () => checkClusterName(name, "what the hub calls the cluster");

test("a name that a namespace can have is taken", () => {
  for (const name of ["paris", "eu-1", "a".repeat(63)]) expect(check(name)).not.toThrow();
});

test("a name that no hub takes is refused before anybody is asked", () => {
  for (const name of ["Bad_Name", "-paris", "eu.west", "a".repeat(64)])
    expect(check(name)).toThrow(`--cluster-name '${name}' cannot be the name of a cluster`);
  expect(check(undefined)).toThrow("--cluster-name NAME is missing: what the hub calls the cluster");
});
