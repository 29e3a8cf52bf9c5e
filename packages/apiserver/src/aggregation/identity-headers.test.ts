import { expect, test } from "vitest";
import { identityHeaders } from "./identity-headers.ts";

test("the user, its groups and its extra fields are headers", () => {
  const headers = identityHeaders({
    name: "jane",
    uid: "7",
    groups: ["dev", "system:authenticated"],
    extra: { "example.com/Scopes%": ["a", "b"] },
  });

  expect(headers).toEqual({
    "x-remote-user": "jane",
    "x-remote-uid": "7",
    "x-remote-group": ["dev", "system:authenticated"],
    "x-remote-extra-example.com%2fscopes%25": ["a", "b"],
  });
});

test("names outside ASCII are sent as UTF-8", () => {
  expect(identityHeaders({ name: "jürgen", groups: [] })["x-remote-user"]).toBe("jÃ¼rgen");
});

test("a name that would add a header is rejected", () => {
  expect(() => identityHeaders({ name: "a\r\nx-remote-group: system:masters", groups: [] })).toThrow(
    "no header can carry",
  );
});
