import { describe, expect, test } from "vitest";
import {
  annotationKeyProblems,
  annotationsAreTooLong,
  dataKeyProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from "./names.ts";

const checks = {
  dnsSubdomainProblems,
  dnsLabelProblems,
  dns1035LabelProblems,
  labelKeyProblems,
  labelValueProblems,
  annotationKeyProblems,
  pathSegmentProblems,
};

const cases: [check: keyof typeof checks, good: string[], bad: Record<string, string>][] = [
  [
    "dnsSubdomainProblems",
    ["a", "a.b-c.1", "x".repeat(253)],
    {
      A_b: "a lowercase RFC 1123 subdomain must consist",
      "": "a lowercase RFC 1123 subdomain",
      "a..b": "a lowercase RFC 1123 subdomain",
      ["x".repeat(254)]: "must be no more than 253 characters",
    },
  ],
  [
    "dnsLabelProblems",
    ["a", "1a-b"],
    {
      "a.b": "must not contain dots",
      a_b: "a lowercase RFC 1123 label must consist",
      "-a": "a lowercase RFC 1123 label",
      ["x".repeat(64)]: "must be no more than 63 characters",
    },
  ],
  ["dns1035LabelProblems", ["a-1"], { "1a": "a DNS-1035 label must consist" }],
  [
    "labelKeyProblems",
    ["app", "example.com/My_Name.1"],
    {
      "a b": "name part must consist of alphanumeric characters",
      "Bad_Prefix/a": "prefix part a lowercase RFC 1123 subdomain must consist",
      "/a": "prefix part must be non-empty",
      "a/": "name part must be non-empty",
      "a/b/c": "a valid label key must consist",
      ["x".repeat(64)]: "name part must be no more than 63 bytes",
    },
  ],
  [
    "labelValueProblems",
    ["", "a", "A.b_c-1"],
    {
      "-a": "a valid label must be an empty string or consist",
      "b c": "a valid label",
      ["x".repeat(64)]: "must be no more than 63 bytes",
      ["ž".repeat(40)]: "must be no more than 63 bytes",
    },
  ],
  ["annotationKeyProblems", ["Example.COM/a"], { "a b": "name part must consist" }],
  [
    "pathSegmentProblems",
    ["system:node", "a b"],
    { ".": "may not be '.'", "a/b": "may not contain '/'", "a%b": "may not contain '%'" },
  ],
];

for (const [check, good, bad] of cases) {
  describe(check, () => {
    test.each(good)("accepts %j", (text) => {
      expect(checks[check](text)).toEqual([]);
    });
    test.each(Object.entries(bad))("rejects %j", (text, start) => {
      expect(checks[check](text)[0]).toMatch(
        new RegExp(`^${start.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`),
      );
    });
  });
}

test("all errors of a key are reported", () => {
  expect(labelKeyProblems("/")).toEqual([
    "prefix part must be non-empty",
    "name part must be non-empty",
    expect.stringMatching(/^name part must consist/),
  ]);
  expect(labelKeyProblems(`${"x".repeat(254)}/a`)).toEqual(["prefix part must be no more than 253 bytes"]);
});

test("data keys must be valid file names", () => {
  expect(dataKeyProblems("a.b_C-1")).toEqual([]);
  expect(dataKeyProblems("..a")).toEqual(["must not start with '..'"]);
  expect(dataKeyProblems("..")).toEqual(["must not be '..'"]);
  expect(dataKeyProblems(`${"x".repeat(253)}/`)).toEqual([
    "must be no more than 253 characters",
    expect.stringMatching(/^a valid config key/),
  ]);
});

test("the total size of annotations is limited", () => {
  expect(annotationsAreTooLong({ a: "x" })).toBe(false);
  expect(annotationsAreTooLong({ a: "x".repeat(256 * 1024) })).toBe(true);
});
