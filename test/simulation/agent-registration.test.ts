/**
 * Registration through Karmada's API on a running hub: which requests are approved, what the hub grants to a new agent,
 * when it revokes that, and what a join token is good for.
 */
import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CertificateSigningRequest,
  CLIENT_SIGNER,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Event,
  Lease,
  requestState,
  Role,
  RoleBinding,
  Secret,
} from "@flotilla/kubernetes";
import { Cluster, Work } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import { LogicalCluster } from "@flotilla/apiserver";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock } from "@flotilla/base";
import { createClient, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeRequest } from "../../packages/apimachinery/src/pki/test-requests.ts";

const AGENTS = "system:karmada:agents";
const KARMADA_TOKENS = "system:bootstrappers:karmada:default-cluster-token";
const OCM_TOKENS = "system:bootstrappers:managedcluster";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const userOf = (cluster: string): string => `system:karmada:agent:${cluster}`;

let fleet: TestFleet;
const clock = createFakeClock();
const engine = createLastingEngine();
const start = async (members: string[] = []): Promise<void> =>
  void (fleet = await startTestFleet({ members, clock, authority: await createCertificateAuthority({ clock }) }));
beforeEach(() => start());
afterEach(() => fleet.stop());

const as = (name: string, ...groups: string[]): Client =>
  createClient({
    transport: fleet.hub.server.transport({ name, groups: [...groups, "system:authenticated"] }),
    fieldManager: "test",
  });
const token = (id = "abcdef", group = KARMADA_TOKENS): Client =>
  as(`system:bootstrap:${id}`, "system:bootstrappers", group);
const agent = (cluster: string): Client => as(userOf(cluster), AGENTS);

async function makeToken(id = "abcdef", labels: Record<string, string> = { "flotilla.dev/single-use": "true" }) {
  await fleet.client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}`, labels },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true" },
  });
}
const hasToken = async (id = "abcdef"): Promise<boolean> =>
  (await find(fleet.client, Secret, {
    cluster: "hub",
    namespace: "kube-system",
    name: `bootstrap-token-${id}`,
  })) !== undefined;

const read = (name: string) => fleet.client.get(CertificateSigningRequest, { cluster: "hub", name });

async function post(name: string, user: string, client: Client, expirationSeconds?: number): Promise<void> {
  await client.create(CertificateSigningRequest, "hub", {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: makeRequest({ CN: [user], O: [AGENTS] }),
      signerName: CLIENT_SIGNER,
      usages: ["digital signature", "client auth"],
      expirationSeconds,
    },
  });
}

/** Returns `issued`, `pending`, or the reason of the denial. */
async function ask(name: string, user: string, client: Client, expirationSeconds?: number): Promise<string> {
  await post(name, user, client, expirationSeconds);
  await fleet.settle();
  return stateOf(name);
}
async function stateOf(name: string): Promise<string> {
  const { status } = await read(name);
  const { denied, issued } = requestState(await read(name));
  return denied ? (status?.conditions?.[0]?.message ?? "") : issued ? "issued" : "pending";
}
const lifetimeDays = async (name: string): Promise<number> => {
  const { status } = await read(name);
  const { validToDate } = new X509Certificate(Buffer.from(status?.certificate ?? "", "base64"));
  return Math.round((validToDate.getTime() - clock.now()) / DAY_MS);
};

async function createOwnCluster(name: string): Promise<void> {
  await agent(name).create(Cluster, "hub", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Pull", apiEndpoint: `https://${name}.example.com` },
  });
  await fleet.run(5_000);
}

/** The names of the objects that the hub created for an agent. */
async function grantedTo(cluster: string): Promise<string[]> {
  const own = async <T extends KubernetesObject>(kind: Kind<T>): Promise<string[]> =>
    (await fleet.client.list(kind, { cluster: "hub" })).items
      .filter(({ metadata }) => metadata.name.startsWith(`system:karmada:${cluster}:agent`))
      .map(({ kind: called, metadata: { namespace, name } }) => `${called ?? kind.kind} ${namespace ?? ""}/${name}`);
  return (await Promise.all([own(ClusterRole), own(ClusterRoleBinding), own(Role), own(RoleBinding)])).flat().sort();
}
const BEFORE_CLUSTER = [
  "ClusterRole /system:karmada:oslo:agent",
  "ClusterRoleBinding /system:karmada:oslo:agent",
  "Role karmada-cluster/system:karmada:oslo:agent-lease",
  "Role karmada-cluster/system:karmada:oslo:agent-secret",
  "Role karmada-system/system:karmada:oslo:agent-lease",
  "RoleBinding karmada-cluster/system:karmada:oslo:agent-lease",
  "RoleBinding karmada-cluster/system:karmada:oslo:agent-secret",
  "RoleBinding karmada-system/system:karmada:oslo:agent-lease",
];

describe("a join token", () => {
  test("registers a new cluster: the hub grants its agent what it needs, and no more", async () => {
    await makeToken();

    expect(await ask("r1", userOf("oslo"), token())).toBe("issued");
    expect(await grantedTo("oslo")).toEqual(BEFORE_CLUSTER);
    await createOwnCluster("oslo");

    expect(await grantedTo("oslo")).toEqual(
      [
        ...BEFORE_CLUSTER,
        "Role karmada-es-oslo/system:karmada:oslo:agent-work",
        "RoleBinding karmada-es-oslo/system:karmada:oslo:agent-work",
      ].sort(),
    );
    const oslo = agent("oslo");
    await oslo.list(Work, { cluster: "hub", namespace: "karmada-es-oslo" });
    await oslo.create(Lease, "hub", {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "karmada-cluster", name: "oslo" },
      spec: { holderIdentity: "oslo" },
    });
    await expect(oslo.list(Work, { cluster: "hub" })).rejects.toMatchObject({ status: { code: 403 } });
    await expect(
      oslo.get(Lease, { cluster: "hub", namespace: "karmada-cluster", name: "paris" }),
    ).rejects.toMatchObject({ status: { code: 403 } });
  });

  test("never becomes the user that grants permissions: the request waits, and an event names the command", async () => {
    await makeToken();

    expect(await ask("agent-rbac-generator-oslo1", "system:karmada:agent:rbac-generator", token())).toBe("pending");
    await fleet.run(1_000);
    const { items } = await fleet.client.list(Event, { cluster: "hub" });
    expect(items.filter(({ reason }) => reason === "ApprovalRequired").map(({ message }) => message)).toEqual([
      expect.stringContaining("run 'kubectl certificate approve agent-rbac-generator-oslo1'"),
    ]);
  });

  test("does not register the name of a Cluster, ManagedCluster or LogicalCluster, or of the hub", async () => {
    await fleet.stop();
    await start(["member1"]);
    await fleet.client.create(ManagedCluster, "hub", {
      apiVersion: "cluster.open-cluster-management.io/v1",
      kind: "ManagedCluster",
      metadata: { name: "managed" },
      spec: { hubAcceptsClient: false },
    });
    await fleet.client.create(LogicalCluster, "hub", {
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "LogicalCluster",
      metadata: { name: "workspace" },
      spec: { profile: "member-bare" },
    });

    const answers = [];
    for (const name of ["member1", "managed", "workspace", "hub"])
      answers.push(await ask(`r-${name}`, userOf(name), token()));

    expect(answers).toEqual([
      expect.stringContaining("the hub already has a cluster member1"),
      expect.stringContaining("the hub already has a ManagedCluster managed"),
      expect.stringContaining("the hub already has a LogicalCluster workspace"),
      expect.stringContaining("the hub already has a LogicalCluster hub"),
    ]);
    expect(await grantedTo("member1")).toEqual([]);
  });

  test("does not register a cluster that could read the credentials of another", async () => {
    await fleet.client.create(Secret, "hub", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "karmada-cluster", name: "oslo" },
      stringData: { token: "t" },
    });

    expect(await ask("r1", userOf("oslo"), token())).toContain("the hub has credentials of a cluster oslo");
    expect(await ask("r2", userOf("paris-impersonator"), token())).toContain("names a Secret of another cluster");
  });

  test("a join token for Open Cluster Management's API registers nothing through Karmada's", async () => {
    expect(await ask("r1", userOf("oslo"), token("abcdef", OCM_TOKENS))).toContain(
      "is not for Karmada's API; create one with 'flotilla token --through karmada'",
    );
  });

  test("a join token for Open Cluster Management's API reads no ConfigMaps and lists no clusters", async () => {
    const client = token("abcdef", OCM_TOKENS);

    await expect(client.list(ManagedCluster, { cluster: "hub" })).rejects.toMatchObject({ status: { code: 403 } });
    await expect(
      client.get(ConfigMap, { cluster: "hub", namespace: "kube-system", name: "kube-root-ca.crt" }),
    ).rejects.toMatchObject({ status: { code: 403 } });
  });

  test("a join token for one cluster registers one, also if two requests arrive together", async () => {
    await makeToken();
    await post("r1", userOf("oslo"), token());
    await post("r2", userOf("paris"), token());
    await fleet.settle();

    const states = [await stateOf("r1"), await stateOf("r2")].toSorted();

    expect(states).toEqual(["issued", expect.stringMatching(/^the token abcdef was already used by request r[12]/)]);
  });

  test("a join token for one cluster is deleted after its certificate was issued and could be fetched", async () => {
    await makeToken();
    await ask("r1", userOf("oslo"), token());

    await fleet.run(4 * MINUTE_MS);
    expect(await hasToken()).toBe(true);
    await fleet.run(2 * MINUTE_MS);

    expect(await hasToken()).toBe(false);
  });

  test("a join token for one cluster survives the approved request of karmadactl register, and a request that was denied", async () => {
    await makeToken();
    await ask("agent-rbac-generator-oslo1", "system:karmada:agent:rbac-generator", token());
    await approve("agent-rbac-generator-oslo1");
    expect(await lifetimeDays("agent-rbac-generator-oslo1")).toBe(0);
    await ask("r1", userOf("Oslo"), token());
    await fleet.run(10 * MINUTE_MS);

    expect(await hasToken()).toBe(true);
    expect(await ask("r2", userOf("oslo"), token())).toBe("issued");
  });

  test("a join token for several clusters registers them, and stays", async () => {
    await makeToken("abcdef", {});

    expect([await ask("r1", userOf("oslo"), token()), await ask("r2", userOf("paris"), token())]).toEqual([
      "issued",
      "issued",
    ]);
    await fleet.run(10 * MINUTE_MS);
    expect(await hasToken()).toBe(true);
  });

  test("does not register a name that another token registered, until that registration is withdrawn", async () => {
    await ask("r1", userOf("oslo"), token("aaaaaa"));

    expect(await ask("r2", userOf("oslo"), token("bbbbbb"))).toContain(
      "withdraw the registration with 'kubectl delete clusterrole system:karmada:oslo:agent'",
    );
    await fleet.client.delete(ClusterRole, { cluster: "hub", name: "system:karmada:oslo:agent" });
    await fleet.settle();
    expect(await grantedTo("oslo")).toEqual([]);
    expect(await ask("r3", userOf("oslo"), token("bbbbbb"))).toBe("issued");
  });

  async function approve(name: string): Promise<void> {
    const condition = { type: "Approved", status: "True", reason: "Test", message: "by hand" };
    await fleet.client.patch(
      CertificateSigningRequest,
      { cluster: "hub", name },
      { status: { conditions: [condition] } },
      { type: "merge", subresource: "approval" },
    );
    await fleet.settle();
  }
});

describe("a registered agent", () => {
  test("has a certificate for a week, or for at most thirty days", async () => {
    await ask("r1", userOf("oslo"), token());
    await ask("r2", userOf("paris"), token(), (365 * DAY_MS) / 1000);

    expect([await lifetimeDays("r1"), await lifetimeDays("r2")]).toEqual([7, 30]);
  });

  test("renews its certificate before it has created its Cluster, and as long as that exists", async () => {
    await ask("r1", userOf("oslo"), token());
    expect(await ask("r2", userOf("oslo"), agent("oslo"))).toBe("issued");

    await createOwnCluster("oslo");

    expect(await ask("r3", userOf("oslo"), agent("oslo"))).toBe("issued");
  });

  test("loses everything when its Cluster is deleted: its certificate is good for nothing", async () => {
    await ask("r1", userOf("oslo"), token());
    await createOwnCluster("oslo");

    await fleet.client.delete(Cluster, { cluster: "hub", name: "oslo" });
    await fleet.run(MINUTE_MS);

    expect(await find(fleet.client, Cluster, { cluster: "hub", name: "oslo" })).toBeUndefined();
    expect(await grantedTo("oslo")).toEqual([]);
    const refused = { status: { code: 403 } };
    await expect(createOwnCluster("oslo")).rejects.toMatchObject(refused);
    await expect(ask("r2", userOf("oslo"), agent("oslo"))).rejects.toMatchObject(refused);
    await expect(agent("oslo").list(Cluster, { cluster: "hub" })).rejects.toMatchObject(refused);
  });

  test("does not renew its certificate after its Cluster was deleted, even with a role that grants requests", async () => {
    await ask("r1", userOf("oslo"), token());
    await createOwnCluster("oslo");
    await fleet.client.delete(Cluster, { cluster: "hub", name: "oslo" });
    await fleet.run(MINUTE_MS);

    expect(await ask("r2", userOf("oslo"), as(userOf("oslo"), AGENTS, KARMADA_TOKENS))).toContain(
      "cluster oslo is not a pull member of this hub",
    );
  });

  test("a registered agent that never creates its Cluster loses its permissions when its certificate expires", async () => {
    await ask("r1", userOf("oslo"), token());

    await fleet.run(6 * DAY_MS);
    expect(await grantedTo("oslo")).toEqual(BEFORE_CLUSTER);
    await fleet.run(2 * DAY_MS);

    expect(await grantedTo("oslo")).toEqual([]);
  });

  test("costs no write while nothing changes", async () => {
    await ask("r1", userOf("oslo"), token());
    await createOwnCluster("oslo");
    fleet.resetWrites();

    await fleet.run(10 * MINUTE_MS);

    expect(fleet.writes().filter(({ part }) => part === "agent-registration")).toEqual([]);
  });
});

test("generous roles that karmadactl register created are replaced when the Cluster exists", async () => {
  const { client } = fleet;
  const name = "system:karmada:oslo:agent";
  await client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] }],
  });
  await fleet.settle();
  expect(await grantedTo("oslo")).toEqual([`ClusterRole /${name}`]);

  await client.create(Cluster, "hub", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "oslo" },
    spec: { syncMode: "Pull" },
  });
  await fleet.run(5_000);

  const { rules = [] } = await client.get(ClusterRole, { cluster: "hub", name });
  expect(rules.flatMap(({ resources = [] }) => resources)).not.toContain("leases");
  expect(await grantedTo("oslo")).toHaveLength(10);
});

test("a registration survives a restart of the hub, before and after the Cluster exists", async () => {
  const restart = async (): Promise<void> => {
    await fleet.stop();
    fleet = await startTestFleet({ members: [], clock, engine });
  };
  await restart();
  await ask("r1", userOf("oslo"), token());
  await restart();
  expect(await grantedTo("oslo")).toEqual(BEFORE_CLUSTER);
  await createOwnCluster("oslo");
  await restart();

  await fleet.client.delete(Cluster, { cluster: "hub", name: "oslo" });
  await fleet.run(MINUTE_MS);

  expect(await grantedTo("oslo")).toEqual([]);
});
