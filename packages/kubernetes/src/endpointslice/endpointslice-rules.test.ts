import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type EndpointSlice } from "./endpointslice-kind.ts";
import { rules } from "./endpointslice-rules.ts";

const slice = (fields: object = {}): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "a", namespace: "default" },
  addressType: "IPv4",
  ...fields,
});

test("a port defaults to an empty name and TCP", () => {
  expect(completedBy(rules, slice({ ports: [{ port: 1 }] })).ports).toEqual([{ port: 1, name: "", protocol: "TCP" }]);
});

test("the deprecated topology of endpoints is dropped", () => {
  const { endpoints } = completedBy(
    rules,
    slice({ endpoints: [{ addresses: ["1.2.3.4"], deprecatedTopology: { "kubernetes.io/hostname": "n" } }] }),
  );

  expect(endpoints).toEqual([{ addresses: ["1.2.3.4"], conditions: {} }]);
});

const refused: Record<string, [fields: object, want: string[]]> = {
  "a missing address type": [{ addressType: undefined }, ["addressType: Required value"]],
  "an unknown address type": [
    { addressType: "X" },
    ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  "an endpoint without an address": [
    { endpoints: [{ addresses: [] }] },
    ["endpoints[0].addresses: Required value: must contain at least 1 address"],
  ],
  "an address of another family": [
    { endpoints: [{ addresses: ["2001:db8::1"] }] },
    ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
  ],
  "an FQDN without a dot": [
    { addressType: "FQDN", endpoints: [{ addresses: ["a"] }] },
    ['endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots'],
  ],
  "duplicate port names": [{ ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
  "too many addresses": [
    { endpoints: [{ addresses: Array.from({ length: 101 }, () => "1.2.3.4") }] },
    ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
  ],
  "a duplicate zone": [
    { endpoints: [{ addresses: ["1.2.3.4"], hints: { forZones: [{ name: "z" }, { name: "z" }] } }] },
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, slice(fields))).toEqual(want);
  });
}

test("the address type of a slice is immutable", () => {
  expect(problemsOf(rules, slice({ addressType: "IPv6" }), slice())).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test("warns of the FQDN address type on create", () => {
  const named = slice({ addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] });

  expect(warningsOf(rules, named)).toEqual(["spec.addressType: FQDN endpoints are deprecated"]);
  expect(warningsOf(rules, named, named)).toEqual([]);
});
