import { describe, expect, test } from "vitest";
import { CLIENT_SIGNER } from "@flotilla/kubernetes";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import { makeRequest } from "../../../../apimachinery/src/pki/test-requests.ts";
import { planAgentRequest, recognizeAgentRequest } from "./plan-agent-request.ts";
import type { AgentRequest, AgentRequestFacts } from "./plan-agent-request.ts";

const USAGES = ["digital signature", "key encipherment", "client auth"];
const TOKEN = "system:bootstrap:abcdef";

describe("a certificate request is recognized", () => {
  const make = (
    subject: { CN: string[]; O: string[] },
    spec: Partial<CertificateSigningRequest["spec"]> = {},
  ): CertificateSigningRequest => ({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r" },
    spec: { request: makeRequest(subject), signerName: CLIENT_SIGNER, usages: USAGES, username: TOKEN, ...spec },
  });
  const agent = { CN: ["system:karmada:agent:paris"], O: ["system:karmada:agents"] };

  const cases: Record<string, { request: CertificateSigningRequest; want: AgentRequest | undefined }> = {
    "as a registration": {
      request: make(agent),
      want: { type: "registration", cluster: "paris", requester: TOKEN },
    },
    "as a renewal, if the agent itself requests it": {
      request: make(agent, { username: "system:karmada:agent:paris" }),
      want: { type: "renewal", cluster: "paris", requester: "system:karmada:agent:paris" },
    },
    "as that of karmadactl register": {
      request: make({ ...agent, CN: ["system:karmada:agent:rbac-generator"] }),
      want: { type: "generator" },
    },
    "as that of karmadactl register, also if that user renews it": {
      request: make(
        { ...agent, CN: ["system:karmada:agent:rbac-generator"] },
        { username: "system:karmada:agent:rbac-generator" },
      ),
      want: { type: "generator" },
    },
    "not with a second group": { request: make({ ...agent, O: ["system:karmada:agents", "dev"] }), want: undefined },
    "not with another user of the group": { request: make({ ...agent, CN: ["admin"] }), want: undefined },
    "not with another signer": { request: make(agent, { signerName: "example.com/signer" }), want: undefined },
    "not with other usages": { request: make(agent, { usages: [...USAGES, "server auth"] }), want: undefined },
    "not if it cannot be read": { request: make(agent, { request: "bm9uZQ==" }), want: undefined },
  };
  for (const [how, { request, want }] of Object.entries(cases)) {
    test(how, () => {
      expect(recognizeAgentRequest(request)).toEqual(want);
    });
  }
});

const registration: AgentRequest = { type: "registration", cluster: "paris", requester: TOKEN };
const renewal: AgentRequest = { type: "renewal", cluster: "paris", requester: "system:karmada:agent:paris" };
const named = (cluster: string): AgentRequest => ({ ...registration, cluster });
const free: AgentRequestFacts = { isAllowed: true, isPullMember: false };

const cases: Record<string, { request: AgentRequest; facts?: Partial<AgentRequestFacts>; want: string }> = {
  "a registration under a free name is approved": { request: registration, want: "approve" },
  "a registration is approved again for the token that reserved the name": {
    request: registration,
    facts: { reservedFor: TOKEN },
    want: "approve",
  },
  "a registration of karmadactl register is left to an administrator": {
    request: { type: "generator" },
    want: "leave",
  },
  "a registration by a user that may not register is left to an administrator": {
    request: { ...registration, requester: "jane" },
    facts: { isAllowed: false },
    want: "leave",
  },
  "a registration with a token for the other API is denied": {
    request: registration,
    facts: { isAllowed: false },
    want: "the token abcdef is not for Karmada's API; create one with 'flotilla token --through karmada'",
  },
  "a registration under the name of a Cluster is denied": {
    request: registration,
    facts: { takenBy: "Cluster" },
    want: "the hub already has a cluster paris; choose another name with --cluster-name, or remove it with 'flotilla unjoin paris'",
  },
  "a registration under the name of a ManagedCluster is denied": {
    request: registration,
    facts: { takenBy: "ManagedCluster" },
    want: "the hub already has a ManagedCluster paris",
  },
  "a registration under the name of a LogicalCluster is denied": {
    request: registration,
    facts: { takenBy: "LogicalCluster" },
    want: "the hub already has a LogicalCluster paris; choose another name with --cluster-name",
  },
  "a registration that could read credentials of another cluster is denied": {
    request: registration,
    facts: { takenBy: "Secret" },
    want: "the hub has credentials of a cluster paris in the namespace karmada-cluster",
  },
  "a registration under a name that another token reserved is denied": {
    request: registration,
    facts: { reservedFor: "system:bootstrap:zzzzzz" },
    want: "withdraw the registration with 'kubectl delete clusterrole system:karmada:paris:agent'",
  },
  "a second registration with a token for one cluster is denied": {
    request: registration,
    facts: { usedBy: "karmada-agent-oslo-1" },
    want:
      "the token abcdef was already used by request karmada-agent-oslo-1; create another with 'flotilla token " +
      "--through karmada', or one for several clusters with --reusable",
  },
  "a registration under an invalid name is denied": {
    request: named("Paris"),
    want: '"Paris" is not a valid cluster name',
  },
  "a registration without a name is denied": { request: named(""), want: '"" is not a valid cluster name' },
  "a registration under a name that is too long is denied": {
    request: named("p".repeat(49)),
    want: "must be no more than 48 characters",
  },
  "a registration under the name of a Secret of another cluster is denied": {
    request: named("oslo-impersonator"),
    want: "which names a Secret of another cluster",
  },
  "a renewal is approved while the Cluster exists": {
    request: renewal,
    facts: { isPullMember: true },
    want: "approve",
  },
  "a renewal is approved before the agent has created its Cluster": {
    request: renewal,
    facts: { reservedFor: TOKEN },
    want: "approve",
  },
  "a renewal is denied after the Cluster has left": {
    request: renewal,
    want: "cluster paris is not a pull member of this hub",
  },
  "a renewal without permission is left to an administrator": {
    request: renewal,
    facts: { isAllowed: false, isPullMember: true },
    want: "leave",
  },
};
for (const [behaviour, { request, facts, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const plan = planAgentRequest(request, { ...free, ...facts });

    expect(plan.type === "deny" ? plan.message : plan.type).toContain(want);
  });
}
