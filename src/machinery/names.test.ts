import { describe, expect, test } from "vitest";
import { annotationKeyProblem, annotationsProblem, dns1035LabelProblem, dnsLabelProblem, dnsSubdomainProblem, labelKeyProblem, labelValueProblem, pathSegmentProblem } from "./names.ts";

const checks = { dnsSubdomainProblem, dnsLabelProblem, dns1035LabelProblem, labelKeyProblem, labelValueProblem, annotationKeyProblem, pathSegmentProblem };

const cases: [check: keyof typeof checks, good: string[], bad: Record<string, string>][] = [
  [
    "dnsSubdomainProblem",
    ["a", "a.b-c.1", "x".repeat(253)],
    { A_b: "a lowercase RFC 1123 subdomain must consist", "": "a lowercase RFC 1123 subdomain", "a..b": "a lowercase RFC 1123 subdomain", ["x".repeat(254)]: "must be no more than 253 characters" },
  ],
  ["dnsLabelProblem", ["a", "1a-b"], { "a.b": "a lowercase RFC 1123 label must consist", "-a": "a lowercase RFC 1123 label", ["x".repeat(64)]: "must be no more than 63 characters" }],
  ["dns1035LabelProblem", ["a-1"], { "1a": "a DNS-1035 label must consist" }],
  [
    "labelKeyProblem",
    ["app", "example.com/My_Name.1"],
    {
      "a b": "name part must consist of alphanumeric characters",
      "Bad_Prefix/a": "prefix part a lowercase RFC 1123 subdomain must consist",
      "/a": "prefix part must be non-empty",
      "a/": "name part must be non-empty",
      "a/b/c": "a qualified name must consist",
      ["x".repeat(64)]: "name part must be no more than 63 bytes",
    },
  ],
  ["labelValueProblem", ["", "a", "A.b_c-1"], { "-a": "a valid label must be an empty string or consist", "b c": "a valid label", ["x".repeat(64)]: "must be no more than 63 bytes", ["ž".repeat(40)]: "must be no more than 63 bytes" }],
  ["annotationKeyProblem", ["Example.COM/a"], { "a b": "name part must consist" }],
  ["pathSegmentProblem", ["system:node", "a b"], { ".": "may not be '.'", "a/b": "may not contain '/'", "a%b": "may not contain '%'" }],
];

for (const [check, good, bad] of cases) {
  describe(check, () => {
    test.each(good)("accepts %j", (text) => {
      expect(checks[check](text)).toBeUndefined();
    });
    test.each(Object.entries(bad))("refuses %j", (text, start) => {
      expect(checks[check](text)).toMatch(new RegExp(`^${start.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`));
    });
  });
}

test("annotations are bounded together", () => {
  expect(annotationsProblem({ a: "x" })).toBeUndefined();
  expect(annotationsProblem({ a: "x".repeat(256 * 1024) })).toBe("Too long: may not be more than 262144 bytes");
});
