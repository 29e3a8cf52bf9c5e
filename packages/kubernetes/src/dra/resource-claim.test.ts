import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { changedDrivers, nodeOfAllocation, prepareClaimStatus } from "./claim-devices.ts";
import type { ResourceClaim } from "./resource-claim.ts";
import { resourceClaimRules } from "./resource-claim-rules.ts";

const claim = (devices: object, status?: object): ResourceClaim => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name: "a", namespace: "n" },
  spec: { devices },
  status,
});
const exactly = (fields: object = {}): object => ({ name: "gpu", exactly: { deviceClassName: "gpu", ...fields } });
const simple = { requests: [exactly()] };
const device = { driver: "d.example.com", pool: "node-1", device: "gpu-0" };
const allocation = { devices: { results: [{ request: "gpu", ...device }] } };

test("a request defaults to one device", () => {
  const { spec } = completedBy(
    [resourceClaimRules],
    claim({
      requests: [
        exactly(),
        { name: "any", firstAvailable: [{ name: "big", deviceClassName: "gpu", tolerations: [{ key: "a" }] }] },
      ],
    }),
  );

  expect(spec.devices?.requests).toEqual([
    { name: "gpu", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 } },
    {
      name: "any",
      firstAvailable: [
        {
          name: "big",
          deviceClassName: "gpu",
          allocationMode: "ExactCount",
          count: 1,
          tolerations: [{ key: "a", operator: "Equal" }],
        },
      ],
    },
  ]);
});

const ONE_OF_TWO = "exactly one of `exactly` or `firstAvailable` is required";
const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const refused: Record<string, [devices: object, want: string[]]> = {
  "a request with neither exactly nor firstAvailable": [
    { requests: [{ name: "a" }] },
    [`spec.devices.requests[0]: Required value: ${ONE_OF_TWO}`],
  ],
  "a request with both exactly and firstAvailable": [
    { requests: [{ ...exactly(), firstAvailable: [{ name: "x", deviceClassName: "k" }] }] },
    [`spec.devices.requests[0]: Invalid value: null: ${ONE_OF_TWO}, but multiple fields are set`],
  ],
  "duplicate request names": [
    { requests: [exactly(), exactly()] },
    ['spec.devices.requests[1]: Duplicate value: "gpu"'],
  ],
  "a missing device class": [
    { requests: [exactly({ deviceClassName: "" })] },
    ["spec.devices.requests[0].exactly.deviceClassName: Required value"],
  ],
  "a count with allocationMode All": [
    { requests: [exactly({ allocationMode: "All", count: 2 })] },
    ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
  ],
  "an unknown allocation mode": [
    { requests: [exactly({ allocationMode: "X" })] },
    ['spec.devices.requests[0].exactly.allocationMode: Unsupported value: "X": supported values: "All", "ExactCount"'],
  ],
  "too many requests": [
    { requests: Array.from({ length: 33 }, (_, index) => ({ name: `r${index}`, exactly: { deviceClassName: "k" } })) },
    ["spec.devices.requests: Too many: 33: must have at most 32 items"],
  ],
  "a constraint on an unknown request": [
    { ...simple, constraints: [{ requests: ["cpu"], matchAttribute: "a.b/c" }] },
    [`spec.devices.constraints[0].requests[0]: Invalid value: "cpu": ${NO_REQUEST}`],
  ],
  "a constraint on an attribute without a domain": [
    { ...simple, constraints: [{ matchAttribute: "model" }] },
    [
      'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
    ],
  ],
  "parameters that are not an object": [
    { ...simple, config: [{ opaque: { driver: "a.b", parameters: [1] } }] },
    ['spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
  ],
  "a selector that does not compile": [
    { requests: [exactly({ selectors: [{ cel: { expression: "device.name" } }] })] },
    [
      'spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.name": ' +
        "compilation failed: ERROR: <input>:1:7: undefined field 'name'\n | device.name\n | ......^",
    ],
  ],
  "a selector that is not boolean": [
    { requests: [exactly({ selectors: [{ cel: { expression: "device.driver" } }] })] },
    [
      'spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
    ],
  ],
};
for (const [what, [devices, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf([resourceClaimRules], claim(devices))).toEqual(want);
  });
}

test("the spec is immutable", () => {
  const old = completedBy([resourceClaimRules], claim(simple));

  expect(problemsOf([resourceClaimRules], claim(simple), old)).toEqual([]);
  expect(problemsOf([resourceClaimRules], claim({ requests: [exactly({ count: 2 })] }), old)).toEqual([
    'spec: Invalid value: {"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu","count":2,' +
      '"allocationMode":"ExactCount"}}]}}: field is immutable',
  ]);
});

test("a claim can be reserved only when it is allocated, and then keeps its allocation", () => {
  const old = completedBy([resourceClaimRules], claim(simple));
  const reserved = { reservedFor: [{ resource: "pods", name: "p", uid: "u" }] };
  const allocated = claim(simple, { ...reserved, allocation });

  expect(problemsOf([resourceClaimRules], claim(simple, reserved), old, "status")).toEqual([
    "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
  ]);
  expect(problemsOf([resourceClaimRules], allocated, old, "status")).toEqual([]);
  expect(
    problemsOf(
      [resourceClaimRules],
      claim(simple, { allocation: { devices: {} } }),
      completedBy([resourceClaimRules], allocated, old, "status"),
      "status",
    ),
  ).toEqual(['status.allocation: Invalid value: {"devices":{}}: field is immutable']);
});

test("drivers can only report status of devices of the claim", () => {
  const old = completedBy([resourceClaimRules], claim(simple));

  expect(
    problemsOf(
      [resourceClaimRules],
      claim(simple, { allocation, devices: [{ ...device, device: "gpu-1" }] }),
      old,
      "status",
    ),
  ).toEqual([
    'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"node-1","Device":"gpu-1","ShareID":""}: must be an allocated device in the claim',
  ]);
});

test("device status is removed with the device", () => {
  const old = claim(simple, { allocation, devices: [device] });

  expect(prepareClaimStatus(claim(simple, { devices: [device] }), old).status).toEqual({});
  expect(prepareClaimStatus(old, old).status?.devices).toEqual([device]);
});

test("a driver's status counts as changed when it is added, changed or removed", () => {
  const other = { ...device, driver: "b.example.com" };

  expect(changedDrivers({ devices: [device] }, { devices: [device] })).toEqual([]);
  expect(changedDrivers({ devices: [{ ...device, data: {} }] }, { devices: [device, other] })).toEqual([
    "b.example.com",
    "d.example.com",
  ]);
});

test("an allocation belongs to a node when no other node can use it", () => {
  const selector = (...values: string[]): object => ({
    nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values }] }] },
  });

  expect(nodeOfAllocation(selector("node-1"))).toBe("node-1");
  expect(nodeOfAllocation(selector("node-1", "node-2"))).toBe("");
  expect(nodeOfAllocation({})).toBe("");
});
