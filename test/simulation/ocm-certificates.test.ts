/** Certificates of agents on a running hub: what is approved automatically, and what never is. */
import { describe, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { CertificateSigningRequest, CLIENT_SIGNER, Event, requestState } from "@flotilla/kubernetes";
import { CLUSTER_NAME_LABEL, ManagedCluster } from "@flotilla/ocm";
import { makeRequest } from "../../packages/apimachinery/src/pki/test-requests.ts";
import { createClient } from "@flotilla/client";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const PREFIX = "system:open-cluster-management:";
const GROUP = `${PREFIX}managed-clusters`;
const BOOTSTRAP = "system:serviceaccount:open-cluster-management:agent-registration-bootstrap";
let fleet: TestFleet;

const start = async (options: Partial<Parameters<typeof startTestFleet>[0]> = {}): Promise<void> =>
  void (fleet = endsWithTest(await startTestFleet({ members: [], ...options })));
const accept = async (name = "c1"): Promise<void> => {
  await fleet.client.create(ManagedCluster, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name },
    spec: { hubAcceptsClient: true },
  });
  await fleet.settle();
};

interface Asked {
  /** The user who sends it. */
  user?: string;
  groups?: string[];
  label?: string;
  commonName?: string;
  organizations?: string[];
  signerName?: string;
}

/** A renewal by the agent `a1` of `c1`, with the changes of a case. */
async function ask({
  user = `${PREFIX}c1:a1`,
  groups = [`${PREFIX}c1`, GROUP],
  label = "c1",
  commonName = `${PREFIX}c1:a1`,
  organizations = [`${PREFIX}c1`, GROUP],
  signerName = CLIENT_SIGNER,
}: Asked): Promise<string> {
  // The server records the user who sent it.
  const client = createClient({
    transport: fleet.hub.server.transport({ name: user, groups: ["system:authenticated", ...groups] }),
    fieldManager: "agent",
  });
  await client.create(CertificateSigningRequest, HUB, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "renewal", labels: { [CLUSTER_NAME_LABEL]: label } },
    spec: { request: makeRequest({ CN: [commonName], O: organizations }), signerName, usages: ["client auth"] },
  });
  await fleet.settle();
  const { approved, denied } = requestState(
    await fleet.client.get(CertificateSigningRequest, { cluster: HUB, name: "renewal" }),
  );
  return approved ? "approved" : denied ? "denied" : "pending";
}

const forged: Record<string, Asked> = {
  "its label names another cluster": { label: "c2" },
  "it requests another cluster's name": { commonName: `${PREFIX}c2:a1` },
  "it requests another cluster's group": { organizations: [`${PREFIX}c2`, GROUP] },
  "it requests an additional group": { organizations: [`${PREFIX}c1`, GROUP, `${PREFIX}c2`] },
  "it requests no group": { organizations: [GROUP] },
  "its name has an additional part": { commonName: `${PREFIX}c1:a1:x` },
  "its name lacks the agent": { commonName: `${PREFIX}c1:` },
  "it names another signer": { signerName: "example.com/other" },
  "another user requests it": { user: `${PREFIX}c2:a1` },
  "another agent of the cluster requests it": { user: `${PREFIX}c1:a2` },
};
for (const [why, asked] of Object.entries(forged)) {
  test(`a CSR is left to an administrator when ${why}`, async () => {
    await start();
    await accept("c1");
    await accept("c2");

    expect(await ask(asked)).toBe("pending");
  });
}

describe("a renewal", () => {
  test("is approved for an accepted agent", async () => {
    await start();
    await accept();

    expect(await ask({})).toBe("approved");
    expect(
      (await fleet.client.get(CertificateSigningRequest, { cluster: HUB, name: "renewal" })).status?.conditions,
    ).toMatchObject([{ type: "Approved", status: "True", reason: "AutoApprovedByHubCSRApprovingController" }]);
  });

  test("can no longer be requested by a denied agent, and would not be approved", async () => {
    await start();
    await accept();
    await fleet.client.patch(
      ManagedCluster,
      { cluster: HUB, name: "c1" },
      { spec: { hubAcceptsClient: false } },
      { type: "merge" },
    );
    await fleet.settle();

    await expect(ask({})).rejects.toMatchObject({ status: { code: 403 } });
    // A bootstrap token allows only the request.
    expect(await ask({ groups: [`${PREFIX}c1`, GROUP, "system:bootstrappers:managedcluster"] })).toBe("pending");
  });
});

describe("a first certificate", () => {
  test("waits for an administrator unless its sender is trusted", async () => {
    await start();
    await accept();

    expect(await ask({ user: BOOTSTRAP })).toBe("pending");
  });

  test("is approved for a trusted sender, and the cluster is accepted once: a later denial wins", async () => {
    await start({ autoApprovedUsers: [BOOTSTRAP] });
    await fleet.client.create(ManagedCluster, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1",
      kind: "ManagedCluster",
      metadata: { name: "c1" },
      spec: { hubAcceptsClient: false },
    });

    expect(await ask({ user: BOOTSTRAP })).toBe("approved");
    expect((await fleet.client.get(ManagedCluster, { cluster: HUB, name: "c1" })).spec.hubAcceptsClient).toBe(true);
    await fleet.client.patch(
      ManagedCluster,
      { cluster: HUB, name: "c1" },
      { spec: { hubAcceptsClient: false } },
      { type: "merge" },
    );
    await fleet.run(60_000);
    expect((await fleet.client.get(ManagedCluster, { cluster: HUB, name: "c1" })).spec.hubAcceptsClient).toBe(false);
  });

  test("is left to an administrator if another agent of the name is alive, with an event on the cluster", async () => {
    await start({ autoApprovedUsers: [BOOTSTRAP] });
    await accept();
    const conditions = [
      {
        type: "ManagedClusterConditionAvailable",
        status: "True",
        reason: "ManagedClusterAvailable",
        message: "",
        lastTransitionTime: "2024-05-01T12:00:00Z",
      },
    ];
    await fleet.client.patch(
      ManagedCluster,
      { cluster: HUB, name: "c1" },
      { status: { conditions } },
      { type: "merge", subresource: "status" },
    );
    await fleet.settle();

    expect(await ask({ user: BOOTSTRAP, commonName: `${PREFIX}c1:a2` })).toBe("pending");
    await fleet.run(1_000);
    const { items } = await fleet.client.list(Event, { cluster: HUB });
    expect(items.filter(({ reason }) => reason === "SecondAgent").map(({ message }) => message)).toEqual([
      "request renewal for a first certificate of cluster c1 is not approved automatically: an agent of this cluster is alive",
    ]);
  });

  test("is left to an administrator if the hub reaches the cluster itself", async () => {
    await start({ members: ["c1"], autoApprovedUsers: [BOOTSTRAP] });

    expect(await ask({ user: BOOTSTRAP })).toBe("pending");
  });
});
