import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { Endpoints } from "./endpoints-kind.ts";
import { rules } from "./endpoints-rules.ts";

const endpoints = (...subsets: object[]): Endpoints => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "a", namespace: "default" },
  subsets,
});

test("a port defaults to TCP", () => {
  const { subsets } = completedBy(rules, endpoints({ addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1 }] }));

  expect(subsets?.[0]?.ports).toEqual([{ port: 1, protocol: "TCP" }]);
});

const refused: Record<string, [subset: object, want: string[]]> = {
  "a subset without addresses": [
    { ports: [{ port: 1 }] },
    ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"],
  ],
  "several ports without names": [
    { addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 1 }, { port: 2 }] },
    ["subsets[0].ports[0].name: Required value", "subsets[0].ports[1].name: Required value"],
  ],
  "a loopback address": [
    { addresses: [{ ip: "127.0.0.1" }] },
    ['subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  "an empty address": [
    { addresses: [{}] },
    [
      'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address',
    ],
  ],
};
for (const [what, [subset, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, endpoints(subset))).toEqual(want);
  });
}

test("stored subsets that are unchanged are not validated again", () => {
  const old = endpoints({ addresses: [{ ip: "127.0.0.1" }] });

  expect(problemsOf(rules, endpoints({ addresses: [{ ip: "127.0.0.1" }] }), old)).toEqual([]);
});

test("warns of addresses in non-canonical form, except those written by its controller", () => {
  const unusual = endpoints({ addresses: [{ ip: "2001:0db8::1" }] });
  const controlled: Endpoints = {
    ...unusual,
    metadata: { ...unusual.metadata, labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
  };

  expect(warningsOf(rules, unusual)).toHaveLength(1);
  expect(warningsOf(rules, controlled)).toEqual([]);
});

test("prints every address with every port, limited to the first three", () => {
  const object = endpoints({
    addresses: [{ ip: "1.2.3.4" }, { ip: "2001:db8::1" }],
    ports: [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ],
  });

  expect(Endpoints.versions["v1"]?.columns[1]?.value?.(object as never, 0)).toBe(
    "1.2.3.4:1,[2001:db8::1]:1,1.2.3.4:2 + 1 more...",
  );
});
