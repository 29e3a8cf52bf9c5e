import { expect, test } from "vitest";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import { describeRefusal, planAccept } from "./accept-plan.ts";

function makeRequest(
  name: string,
  username: string,
  groups: string[],
  decided?: "Approved" | "Denied",
  cluster = "paris",
): CertificateSigningRequest {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name, labels: { "open-cluster-management.io/cluster-name": cluster } },
    spec: { request: "", signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"], username, groups },
    status: { conditions: decided ? [{ type: decided, status: "True" }] : [] },
  };
}
const token = makeRequest("token", "system:bootstrap:abcdef", ["system:bootstrappers:managedcluster"]);
const account = makeRequest("account", "system:serviceaccount:open-cluster-management:agent-registration-bootstrap", [
  "system:serviceaccounts:open-cluster-management",
]);
const untrusted = makeRequest("untrusted", "mallory", ["system:bootstrappers:managedcluster"]);
const unproved = makeRequest("unproved", "system:bootstrap:abcdef", ["system:bootstrappers"]);
const namesOf = (requests: readonly CertificateSigningRequest[]): string[] =>
  requests.map(({ metadata }) => metadata.name);
const plan = (
  requests: CertificateSigningRequest[],
  options: Partial<Parameters<typeof planAccept>[2]> = {},
): { approve: string[]; suspicious: string[] } => {
  const { approve, suspicious } = planAccept("paris", requests, { requesters: [], skipsCheck: false, ...options });
  return {
    approve: namesOf(approve as CertificateSigningRequest[]),
    suspicious: namesOf(suspicious as CertificateSigningRequest[]),
  };
};

test("requests from bootstrap users for new clusters are approved, and no others", () => {
  expect(plan([token, account, untrusted, unproved])).toEqual({
    approve: ["token", "account"],
    suspicious: ["untrusted", "unproved"],
  });
});

test("decided requests stay decided, and requests of other clusters are ignored", () => {
  expect(
    plan([
      makeRequest("old", "system:bootstrap:abcdef", ["system:bootstrappers:managedcluster"], "Denied"),
      makeRequest("other", "system:bootstrap:abcdef", ["system:bootstrappers:managedcluster"], undefined, "oslo"),
    ]),
  ).toEqual({ approve: [], suspicious: [] });
});

test("--requesters trusts only the named users, even together with --skip-approve-check", () => {
  expect(plan([token, untrusted], { requesters: ["mallory"] })).toEqual({
    approve: ["untrusted"],
    suspicious: ["token"],
  });
  expect(plan([token, untrusted], { requesters: ["mallory"], skipsCheck: true })).toEqual({
    approve: ["untrusted"],
    suspicious: ["token"],
  });
  expect(plan([token, untrusted], { skipsCheck: true })).toEqual({ approve: ["token", "untrusted"], suspicious: [] });
});

test("a denied request is reported until the agent sends a new one", () => {
  const at = (request: CertificateSigningRequest, creationTimestamp: string): CertificateSigningRequest => ({
    ...request,
    metadata: { ...request.metadata, creationTimestamp },
  });
  const denied = at(makeRequest("denied", "system:bootstrap:abcdef", [], "Denied"), "2024-05-01T12:00:00Z");
  const trust = { requesters: [], skipsCheck: false };

  const { refused } = planAccept("paris", [denied], trust);

  expect(refused && describeRefusal("paris", refused)).toBe(
    "the last request of paris, denied, was denied; its agent retries after an hour, or when it is restarted",
  );
  expect(planAccept("paris", [at(token, "2024-05-01T12:30:00Z"), denied], trust).refused).toBeUndefined();
});
