import { createPublicKey } from "node:crypto";
import { parseCertificateRequest } from "@flotilla/apimachinery";
import { describe, expect, test } from "vitest";
import { karmadaIdentity, makeRequest, managedClusterIdentity } from "./identity.ts";
import type { AgentIdentity } from "./identity.ts";

describe("the identity of an agent", () => {
  const cases: Record<string, { identity: AgentIdentity; want: AgentIdentity }> = {
    "is that of its cluster and itself on a hub of Open Cluster Management": {
      identity: managedClusterIdentity("oslo", "agent-1"),
      want: {
        commonName: "system:open-cluster-management:oslo:agent-1",
        organizations: ["system:open-cluster-management:oslo", "system:open-cluster-management:managed-clusters"],
        labels: { "open-cluster-management.io/cluster-name": "oslo" },
        requestPrefix: "oslo-",
      },
    },
    "is that of its cluster on a hub of Karmada": {
      identity: karmadaIdentity("oslo"),
      want: {
        commonName: "system:karmada:agent:oslo",
        organizations: ["system:karmada:agents"],
        labels: {},
        requestPrefix: "karmada-agent-oslo-",
      },
    },
  };
  for (const [behaviour, { identity, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(identity).toEqual(want);
    });
});

test("a certificate request has the identity and the public key of the agent, whose private key stays with it", () => {
  const { request, key } = makeRequest(managedClusterIdentity("oslo", "agent-1"));

  const parsed = parseCertificateRequest(Buffer.from(request).toString("base64"));
  expect(parsed.commonName).toBe("system:open-cluster-management:oslo:agent-1");
  expect(parsed.organizations).toEqual([
    "system:open-cluster-management:oslo",
    "system:open-cluster-management:managed-clusters",
  ]);
  expect(parsed.publicKey.equals(createPublicKey(key))).toBe(true);
  expect(request).not.toContain("PRIVATE KEY");
});
