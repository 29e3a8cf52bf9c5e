import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { usableRanges, type ServiceCIDR } from "./service-cidr.ts";
import { serviceCidrRules } from "./service-cidr-rules.ts";

const range = (cidrs: string[], fields: object = {}): ServiceCIDR => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "ServiceCIDR",
  metadata: { name: "a" },
  spec: { cidrs },
  ...fields,
});

const refused: Record<string, [cidrs: string[], want: string[]]> = {
  "no CIDR": [[], ["spec.cidrs: Required value: at least one CIDR required"]],
  "three CIDRs": [["a", "b", "c"], ['spec.cidrs: Invalid value: ["a","b","c"]: may only hold up to 2 values']],
  "an address instead of a CIDR": [
    ["10.0.0.1/24"],
    ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
  ],
  "a non-canonical form": [
    ["2001:DB8::/64"],
    ['spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")'],
  ],
  "two CIDRs of one IP family": [
    ["10.0.0.0/24", "10.0.1.0/24"],
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
};
for (const [what, [cidrs, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf([serviceCidrRules], range(cidrs))).toEqual(want);
  });
}

test("a CIDR of the other IP family may be added; other changes are rejected", () => {
  const old = completedBy([serviceCidrRules], range(["10.0.0.0/24"]));

  expect(problemsOf([serviceCidrRules], range(["10.0.0.0/24", "2001:db8::/64"]), old)).toEqual([]);
  expect(problemsOf([serviceCidrRules], range(["10.0.1.0/24"]), old)).toEqual([
    'spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable',
  ]);
});

test("no addresses are allocated from a range that is being deleted or not ready", () => {
  const ready = (status: "True" | "False"): object => ({
    status: {
      conditions: [{ type: "Ready", status, reason: "", message: "", lastTransitionTime: "2024-05-01T12:00:00Z" }],
    },
  });

  expect(usableRanges(range(["10.0.0.0/24", "2001:db8::/64"]))).toEqual([{ address: [10, 0, 0, 0], prefixLength: 24 }]);
  expect(usableRanges(range(["10.0.0.0/24"], ready("True")))).toHaveLength(1);
  expect(usableRanges(range(["10.0.0.0/24"], ready("False")))).toEqual([]);
  expect(
    usableRanges(range(["10.0.0.0/24"], { metadata: { name: "a", deletionTimestamp: "2024-05-01T12:00:00Z" } })),
  ).toEqual([]);
});
