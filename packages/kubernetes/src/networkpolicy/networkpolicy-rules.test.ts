import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type NetworkPolicy } from "./networkpolicy-kind.ts";
import { rules } from "./networkpolicy-rules.ts";

const policy = (spec?: object): NetworkPolicy => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "a", namespace: "default" },
  spec,
});

const defaults: Record<string, [spec: object | undefined, want: object]> = {
  "a policy defaults to ingress": [undefined, { policyTypes: ["Ingress"] }],
  "a policy with egress rules defaults to ingress and egress": [
    { egress: [{}] },
    { policyTypes: ["Ingress", "Egress"] },
  ],
  "a port defaults to TCP": [
    { ingress: [{ ports: [{ port: 80 }] }] },
    { ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }] },
  ],
};
for (const [rule, [spec, want]] of Object.entries(defaults)) {
  test(rule, () => {
    expect(completedBy(rules, policy(spec)).spec).toMatchObject(want);
  });
}

const refused: Record<string, [spec: object, want: string[]]> = {
  "an empty peer": [{ ingress: [{ from: [{}] }] }, ["spec.ingress[0].from[0]: Required value: must specify a peer"]],
  "a peer with both ipBlock and podSelector": [
    { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] },
    ["spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer"],
  ],
  "an invalid CIDR": [
    { ingress: [{ from: [{ ipBlock: {} }] }] },
    ["spec.ingress[0].from[0].ipBlock.cidr: Required value"],
  ],
  "an exception outside the CIDR": [
    { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }] },
    ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'],
  ],
  "an endPort below the port": [
    { ingress: [{ ports: [{ port: 5, endPort: 4 }] }] },
    ["spec.ingress[0].ports[0].endPort: Invalid value: 5: must be greater than or equal to `port`"],
  ],
  "a third policy type": [
    { policyTypes: ["Ingress", "Egress", "Up"] },
    ['spec.policyTypes: Invalid value: ["Ingress","Egress","Up"]: may not specify more than two policyTypes'],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, policy(spec))).toEqual(want);
  });
}

test("a stored CIDR stays valid", () => {
  const spec = { ingress: [{ from: [{ ipBlock: { cidr: "10.1.2.3/8" } }] }] };

  expect(problemsOf(rules, policy(spec))).toHaveLength(1);
  expect(problemsOf(rules, policy(spec), policy(spec))).toEqual([]);
});
