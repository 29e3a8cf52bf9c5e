import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { addressNameProblems } from "../networking/addresses.ts";
import { addressOfService, isAllocated, type IPAddress } from "./ip-address.ts";
import { ipAddressRules } from "./ip-address-rules.ts";

const address = (parentRef?: object): IPAddress =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name: "10.0.0.1" },
    spec: { parentRef },
  }) as IPAddress;

test("an address needs a parent reference", () => {
  expect(problemsOf([ipAddressRules], address())).toEqual(["spec.parentRef: Required value"]);
  expect(problemsOf([ipAddressRules], address({}))).toEqual([
    "spec.parentRef.resource: Required value",
    "spec.parentRef.name: Required value",
  ]);
});

test("the parent reference is immutable", () => {
  const old = completedBy([ipAddressRules], address({ resource: "services", name: "a" }));

  expect(problemsOf([ipAddressRules], address({ resource: "services", name: "b" }), old)).toEqual([
    'spec.parentRef: Invalid value: {"resource":"services","name":"b"}: field is immutable',
  ]);
});

test("the name is the canonical form of the address", () => {
  expect(addressNameProblems("10.0.0.1")).toEqual([]);
  expect(addressNameProblems("2001:DB8::1")).toEqual(['must be in canonical form ("2001:db8::1")']);
  expect(addressNameProblems("web")).toEqual(["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]);
});

test("distinguishes addresses of the Service allocator from user-created ones", () => {
  expect(isAllocated(addressOfService("10.0.0.1", { namespace: "n", name: "a" }))).toBe(true);
  expect(isAllocated(address({ resource: "services", name: "a" }))).toBe(false);
});
