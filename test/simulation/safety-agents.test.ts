/**
 * What an agent of Karmada's API may write on the hub, whatever RBAC allows it: paris' agent is bound to cluster-admin
 * here, and may still write only the objects of its own cluster. So is the user that `karmadactl register` becomes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CertificateSigningRequest,
  CLIENT_SIGNER,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Event,
  Lease,
  Namespace,
  Role,
  RoleBinding,
  Secret,
} from "@flotilla/kubernetes";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeRequest } from "../../packages/apimachinery/src/pki/test-requests.ts";

const RBAC = "rbac.authorization.k8s.io";
const AGENTS = "system:karmada:agents";
const PARIS = "system:karmada:agent:paris";
const GENERATOR = "system:karmada:agent:rbac-generator";
const SECRETS = "karmada-cluster";

let fleet: TestFleet;
let paris: Client;
let generator: Client;
beforeAll(async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  const { client } = fleet;
  for (const name of [PARIS, GENERATOR, "mallory"])
    await client.create(ClusterRoleBinding, "hub", bindingOf(`test:${name}`, "cluster-admin", name));
  for (const name of ["paris", "oslo"]) {
    await client.create(Cluster, "hub", makeCluster(name));
    await client.create(Lease, "hub", makeLease(SECRETS, name));
  }
  await fleet.run(5_000);
  await client.create(Work, "hub", makeWork("karmada-es-oslo", "taken"));
  await client.create(Work, "hub", makeWork("karmada-es-paris", "own"));
  paris = as(PARIS, AGENTS);
  generator = as(GENERATOR, AGENTS);
});
afterAll(() => fleet.stop());

const as = (name: string, ...groups: string[]): Client =>
  createClient({
    transport: fleet.hub.server.transport({ name, groups: [...groups, "system:authenticated"] }),
    fieldManager: "agent",
  });

function makeCluster(name: string, spec: object = {}): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Pull", apiEndpoint: `https://${name}.example.com:6443`, ...spec },
  };
}
const makeLease = (namespace: string, name: string): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace, name },
  spec: { holderIdentity: "paris", leaseDurationSeconds: 40 },
});
const makeWork = (namespace: string, name: string): Work => ({
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { namespace, name },
  spec: {
    workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } }] },
  },
});
const makeSecret = (namespace: string, name: string): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace, name },
  stringData: { token: "t" },
});
const makeEvent = (namespace: string, about: { kind: string; name: string; namespace?: string }): Event => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { namespace, name: "e1" },
  involvedObject: { apiVersion: "example.com/v1", ...about },
  reason: "Synced",
  message: "x",
  type: "Normal",
});
const makeNamespace = (name: string): Namespace => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
function bindingOf(name: string, role: string, ...users: string[]): ClusterRoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
    subjects: users.map((user) => ({ apiGroup: RBAC, kind: "User", name: user })),
  };
}
const makeRole = (name: string): ClusterRole => ({
  apiVersion: `${RBAC}/v1`,
  kind: "ClusterRole",
  metadata: { name },
  rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["*"] }],
});
const request = (user: string, group = AGENTS): CertificateSigningRequest => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "r1" },
  spec: {
    request: makeRequest({ CN: [user], O: [group] }),
    signerName: CLIENT_SIGNER,
    usages: ["digital signature", "client auth"],
  },
});

const own = { cluster: "hub", namespace: "karmada-es-paris", name: "own" };
const taken = { cluster: "hub", namespace: "karmada-es-oslo", name: "taken" };
const dry = { dryRun: true } as const;
const merge = { type: "merge", ...dry } as const;
const create =
  <T extends KubernetesObject>(kind: Kind<T>, object: T) =>
  (client: Client): Promise<unknown> =>
    client.create(kind, "hub", object as never, dry);

type Attempt = (client: Client) => Promise<unknown>;

describe("the agent of a cluster with every permission", () => {
  const allowed: Record<string, Attempt> = {
    "deletes its own Cluster": (client) => client.delete(Cluster, { cluster: "hub", name: "paris" }, dry),
    "changes its own Cluster, with the Secrets of its name": (client) =>
      client.patch(
        Cluster,
        { cluster: "hub", name: "paris" },
        {
          spec: {
            region: "north",
            secretRef: { namespace: SECRETS, name: "paris" },
            impersonatorSecretRef: { namespace: SECRETS, name: "paris-impersonator" },
          },
        },
        merge,
      ),
    "reports the status of its own Cluster": (client) =>
      client.patch(
        Cluster,
        { cluster: "hub", name: "paris" },
        { status: { kubernetesVersion: "v1.36.0" } },
        {
          ...merge,
          subresource: "status",
        },
      ),
    "renews its heartbeat": (client) =>
      client.patch(
        Lease,
        { cluster: "hub", namespace: SECRETS, name: "paris" },
        { spec: { holderIdentity: "x" } },
        merge,
      ),
    "creates the Lease of its election": create(Lease, makeLease("karmada-system", "karmada-agent-paris")),
    "creates Works in its namespace": create(Work, makeWork("karmada-es-paris", "collected")),
    "updates its Works": (client) => client.patch(Work, own, { metadata: { labels: { a: "b" } } }, merge),
    "reports the status of its Works": (client) =>
      client.patch(Work, own, { status: { conditions: [] } }, { ...merge, subresource: "status" }),
    "deletes its Works": (client) => client.delete(Work, own, dry),
    "stores its credentials": create(Secret, makeSecret(SECRETS, "paris")),
    "stores its credentials for impersonation": create(Secret, makeSecret(SECRETS, "paris-impersonator")),
    "reports events on its Cluster": create(Event, makeEvent("default", { kind: "Cluster", name: "paris" })),
    "reports events on its Works": create(
      Event,
      makeEvent("karmada-es-paris", { kind: "Work", name: "own", namespace: "karmada-es-paris" }),
    ),
    "reports events on a template": create(
      Event,
      makeEvent("default", { kind: "Deployment", name: "web", namespace: "default" }),
    ),
    "requests its next certificate": create(CertificateSigningRequest, request(PARIS)),
  };
  for (const [behaviour, attempt] of Object.entries(allowed)) {
    test(behaviour, async () => {
      expect(await attempt(paris).then(() => "written")).toBe("written");
    });
  }

  const rejected: Record<string, { attempt: Attempt; message: string }> = {
    "create another Cluster": {
      attempt: create(Cluster, makeCluster("thief")),
      message: "the agent of cluster paris can write only its own Cluster",
    },
    "delete another Cluster": {
      attempt: (client) => client.delete(Cluster, { cluster: "hub", name: "oslo" }, dry),
      message: "can write only its own Cluster",
    },
    "report the status of another Cluster": {
      attempt: (client) =>
        client.patch(
          Cluster,
          { cluster: "hub", name: "oslo" },
          { status: { kubernetesVersion: "v1.0.0" } },
          {
            ...merge,
            subresource: "status",
          },
        ),
      message: "can write only its own Cluster",
    },
    "become a push member": {
      attempt: (client) =>
        client.patch(Cluster, { cluster: "hub", name: "paris" }, { spec: { syncMode: "Push" } }, merge),
      message: "can only register it with syncMode: Pull",
    },
    "name a Secret of another cluster": {
      attempt: (client) =>
        client.patch(
          Cluster,
          { cluster: "hub", name: "paris" },
          { spec: { secretRef: { namespace: SECRETS, name: "oslo" } } },
          merge,
        ),
      message: "can name only the Secrets paris and paris-impersonator in karmada-cluster",
    },
    "name a Secret of its own name elsewhere": {
      attempt: (client) =>
        client.patch(
          Cluster,
          { cluster: "hub", name: "paris" },
          { spec: { impersonatorSecretRef: { namespace: "default", name: "paris" } } },
          merge,
        ),
      message: "can name only the Secrets paris and paris-impersonator",
    },
    "renew the heartbeat of another cluster": {
      attempt: (client) =>
        client.patch(
          Lease,
          { cluster: "hub", namespace: SECRETS, name: "oslo" },
          { spec: { holderIdentity: "x" } },
          merge,
        ),
      message: "can write only the Leases karmada-cluster/paris and karmada-system/karmada-agent-paris",
    },
    "renew the heartbeat of a ManagedCluster": {
      attempt: create(Lease, makeLease("member1", "managed-cluster-lease")),
      message: "can write only the Leases",
    },
    "renew the heartbeat of a cluster that is named like its election": {
      attempt: create(Lease, makeLease(SECRETS, "karmada-agent-paris")),
      message: "can write only the Leases",
    },
    "lead the hub's controllers": {
      attempt: create(Lease, makeLease("karmada-system", "flotilla-controllers")),
      message: "can write only the Leases",
    },
    "create Works of another cluster": {
      attempt: create(Work, makeWork("karmada-es-member1", "evil")),
      message: "can write Works only in karmada-es-paris",
    },
    "delete Works of another cluster": {
      attempt: (client) => client.delete(Work, taken, dry),
      message: "can write Works only in karmada-es-paris",
    },
    "report the status of Works of another cluster": {
      attempt: (client) =>
        client.patch(Work, taken, { status: { conditions: [] } }, { ...merge, subresource: "status" }),
      message: "can write Works only in karmada-es-paris",
    },
    "write credentials of another cluster": {
      attempt: create(Secret, makeSecret(SECRETS, "oslo")),
      message: "can write only the Secrets paris and paris-impersonator in karmada-cluster",
    },
    "create a join token": {
      attempt: create(Secret, makeSecret("kube-system", "bootstrap-token-abcdef")),
      message: "can write only the Secrets",
    },
    "create namespaces": {
      attempt: create(Namespace, makeNamespace("karmada-es-oslo2")),
      message: "can only create the namespace karmada-es-paris",
    },
    "delete namespaces": {
      attempt: (client) => client.delete(Namespace, { cluster: "hub", name: "member1" }, dry),
      message: "the agent of cluster paris can only create the namespace karmada-es-paris",
    },
    "create roles": { attempt: create(ClusterRole, makeRole("mine")), message: "cannot write clusterroles" },
    "change its own roles": {
      attempt: create(ClusterRole, makeRole("system:karmada:paris:agent")),
      message: "cannot write clusterroles",
    },
    "grant roles": {
      attempt: create(ClusterRoleBinding, bindingOf("mine", "cluster-admin", "mallory")),
      message: "cannot write clusterrolebindings",
    },
    "write policies": {
      attempt: create(
        PropagationPolicy,
        makePolicy("default/p").selects("v1", "Secret", "x").weights({ paris: 1 }).build(),
      ),
      message: "cannot write propagationpolicies",
    },
    "write ConfigMaps": {
      attempt: create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "default", name: "c" },
      }),
      message: "cannot write configmaps",
    },
    "report events on another Cluster": {
      attempt: create(Event, makeEvent("default", { kind: "Cluster", name: "oslo" })),
      message: "cannot report events of another cluster",
    },
    "report events on Works of another cluster": {
      attempt: create(
        Event,
        makeEvent("karmada-es-oslo", { kind: "Work", name: "taken", namespace: "karmada-es-oslo" }),
      ),
      message: "cannot report events of another cluster",
    },
    "request the certificate of another agent": {
      attempt: create(CertificateSigningRequest, request("system:karmada:agent:oslo")),
      message: `can only request certificates for ${PARIS}`,
    },
  };
  for (const [behaviour, { attempt, message }] of Object.entries(rejected)) {
    test(`cannot ${behaviour}`, async () => {
      await expect(attempt(paris)).rejects.toThrow(message);
    });
  }

  test("cannot approve requests", async () => {
    await fleet.client.create(CertificateSigningRequest, "hub", {
      ...request("jane", "dev"),
      metadata: { name: "jane" },
    });
    const condition = { type: "Approved", status: "True", reason: "x", message: "x" };

    const approval = paris.patch(
      CertificateSigningRequest,
      { cluster: "hub", name: "jane" },
      { status: { conditions: [condition] } },
      { ...merge, subresource: "approval" },
    );

    await expect(approval).rejects.toThrow("can only request certificates");
  });
});

const outsiders: Record<string, { user: string; group: string }> = {
  "a user of the group that is not an agent": { user: "mallory", group: AGENTS },
  "an agent without its group": { user: PARIS, group: "dev" },
  "an agent whose name is that of a Secret of another cluster": {
    user: "system:karmada:agent:oslo-impersonator",
    group: AGENTS,
  },
};
for (const [who, { user, group }] of Object.entries(outsiders)) {
  test(`${who} cannot write credentials of another cluster`, async () => {
    await fleet.client.create(ClusterRoleBinding, "hub", bindingOf(`test:outsider:${user}`, "cluster-admin", user));
    await fleet.settle();

    await expect(create(Secret, makeSecret(SECRETS, "oslo-impersonator"))(as(user, group))).rejects.toThrow(
      /forbidden/i,
    );
  });
}

describe("the user that karmadactl register becomes", () => {
  const role = (namespace: string, name: string): Role => ({
    apiVersion: `${RBAC}/v1`,
    kind: "Role",
    metadata: { namespace, name },
    rules: [],
  });
  const roleBinding = (namespace: string, name: string, user: string): RoleBinding => ({
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { namespace, name },
    roleRef: { apiGroup: RBAC, kind: "Role", name },
    subjects: [{ apiGroup: RBAC, kind: "User", name: user }],
  });
  const LYON = "system:karmada:agent:lyon";

  const allowed: Record<string, Attempt> = {
    "the ClusterRole of an agent": create(ClusterRole, makeRole("system:karmada:lyon:agent")),
    "the ClusterRoleBinding of an agent": create(
      ClusterRoleBinding,
      bindingOf("system:karmada:lyon:agent", "system:karmada:lyon:agent", LYON),
    ),
    "the execution namespace of an agent": create(Namespace, makeNamespace("karmada-es-lyon")),
    "the Role of an agent for its Secrets": create(Role, role(SECRETS, "system:karmada:lyon:agent-secret")),
    "the RoleBinding of an agent for its Secrets": create(
      RoleBinding,
      roleBinding(SECRETS, "system:karmada:lyon:agent-secret", LYON),
    ),
  };
  for (const [what, attempt] of Object.entries(allowed)) {
    test(`creates ${what}`, async () => {
      expect(await attempt(generator).then(() => "written")).toBe("written");
    });
  }

  const rejected: Record<string, Attempt> = {
    "create another role": create(ClusterRole, makeRole("mine")),
    "create a role of an agent's name in another namespace": create(Role, role("default", "system:karmada:lyon:agent")),
    "bind an agent's role to another user": create(
      ClusterRoleBinding,
      bindingOf("system:karmada:lyon:agent", "system:karmada:lyon:agent", LYON, "mallory"),
    ),
    "bind another role to an agent": create(
      ClusterRoleBinding,
      bindingOf("system:karmada:lyon:agent", "cluster-admin", LYON),
    ),
    "create Works": create(Work, makeWork("karmada-es-oslo", "evil")),
    "delete Works": (client) => client.delete(Work, taken, dry),
    "create Clusters": create(Cluster, makeCluster("thief")),
    "delete Clusters": (client) => client.delete(Cluster, { cluster: "hub", name: "oslo" }, dry),
    "write Secrets": create(Secret, makeSecret(SECRETS, "lyon")),
    "renew Leases": create(Lease, makeLease(SECRETS, "lyon")),
    "create other namespaces": create(Namespace, makeNamespace("shop")),
  };
  for (const [what, attempt] of Object.entries(rejected)) {
    test(`cannot ${what}`, async () => {
      await expect(attempt(generator)).rejects.toThrow("can only create the roles that 'karmadactl register' grants");
    });
  }
});
