import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../test-review.ts";
import { admissions, type EndpointSlice } from "./endpoint-slice.ts";

const slice = (fields: object = {}): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "a", namespace: "default" },
  addressType: "IPv4",
  ...fields,
});

test("a port has a name, which may be empty, and is for TCP", () => {
  expect(completedBy(admissions, slice({ ports: [{ port: 1 }] })).ports).toEqual([
    { port: 1, name: "", protocol: "TCP" },
  ]);
});

test("the topology that older servers kept is not taken any more", () => {
  const { endpoints } = completedBy(
    admissions,
    slice({ endpoints: [{ addresses: ["1.2.3.4"], deprecatedTopology: { "kubernetes.io/hostname": "n" } }] }),
  );

  expect(endpoints).toEqual([{ addresses: ["1.2.3.4"], conditions: {} }]);
});

const refused: Record<string, [fields: object, want: string[]]> = {
  "no type": [{ addressType: undefined }, ["addressType: Required value"]],
  "an unknown type": [
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
  "a name without a dot": [
    { addressType: "FQDN", endpoints: [{ addresses: ["a"] }] },
    ['endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots'],
  ],
  "two ports of one name": [{ ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
  "too many addresses": [
    { endpoints: [{ addresses: Array.from({ length: 101 }, () => "1.2.3.4") }] },
    ["endpoints[0].addresses: Too many: 101: must have at most 100 items"],
  ],
  "a zone twice": [
    { endpoints: [{ addresses: ["1.2.3.4"], hints: { forZones: [{ name: "z" }, { name: "z" }] } }] },
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`refused: ${what}`, () => {
    expect(problemsOf(admissions, slice(fields))).toEqual(want);
  });
}

test("the type of a slice stays", () => {
  expect(problemsOf(admissions, slice({ addressType: "IPv6" }), slice())).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});

test("names instead of addresses are warned of when a slice is made", () => {
  const named = slice({ addressType: "FQDN", endpoints: [{ addresses: ["a.b"] }] });

  expect(warningsOf(admissions, named)).toEqual(["spec.addressType: FQDN endpoints are deprecated"]);
  expect(warningsOf(admissions, named, named)).toEqual([]);
});
