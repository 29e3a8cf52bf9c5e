import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type Node } from "./node-kind.ts";
import { rules } from "./node-rules.ts";

const node = (spec: object = {}, status: object = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n" },
  spec,
  status,
});

const networks: Record<string, [spec: object, want: object]> = {
  "podCIDR defaults podCIDRs": [{ podCIDR: "10.0.0.0/24" }, { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] }],
  "podCIDRs defaults podCIDR to its first entry": [
    { podCIDRs: ["10.0.0.0/24", "2001:db8::/64"] },
    { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "2001:db8::/64"] },
  ],
  "podCIDR wins when podCIDRs differs": [
    { podCIDR: "10.0.0.0/24", podCIDRs: ["10.1.0.0/24"] },
    { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
  ],
};
for (const [rule, [spec, want]] of Object.entries(networks)) {
  test(rule, () => {
    expect(completedBy(rules, node(spec)).spec).toEqual(want);
  });
}

test("allocatable defaults to capacity until the kubelet sets it", () => {
  expect(completedBy(rules, node({}, { capacity: { cpu: "4" } })).status).toMatchObject({
    allocatable: { cpu: "4" },
  });
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "a taint without an effect": [{ taints: [{ key: "a" }] }, ["metadata.taints[0].effect: Required value"]],
  "a duplicate taint": [
    {
      taints: [
        { key: "a", effect: "NoSchedule" },
        { key: "a", effect: "NoSchedule", value: "x" },
      ],
    },
    [
      'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  "two pod CIDRs of one IP family": [
    { podCIDRs: ["10.0.0.0/24", "10.1.0.0/24"] },
    [
      'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, node(spec))).toEqual(want);
  });
}

test("podCIDR and providerID of a node can be set only once", () => {
  const old = completedBy(rules, node({ podCIDR: "10.1.0.0/24", providerID: "x" }));

  expect(problemsOf(rules, node({ podCIDR: "10.2.0.0/24", providerID: "y" }), old)).toEqual([
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ]);
});

test("a status update validates quantities and addresses", () => {
  const status = {
    allocatable: { cpu: "-1" },
    addresses: [
      { type: "InternalIP", address: "1.2.3.4" },
      { type: "InternalIP", address: "1.2.3.4" },
    ],
  };

  expect(problemsOf(rules, node({}, status), node(), "status")).toEqual([
    'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
    'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.2.3.4"}',
  ]);
});
