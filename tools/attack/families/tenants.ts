/** Users with few permissions: of a namespace, of a logical cluster, of everything but only to read (S3). */
import { once } from "node:events";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { countStatuses, runAttempts, statusOf, verdictOf, type Attack, type Attempt } from "../attack.ts";
import { MEMBERS, must, type World } from "../world.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const LOGICAL_CLUSTERS = "/apis/flotilla.dev/v1alpha1/logicalclusters";
const POLICY_KINDS = "/apis/policy.karmada.io/v1alpha1";

const reader: Attack = {
  name: "tenants/reader",
  claim: "a role that reads everything gets no credentials (S3)",
  short: true,
  async run(world) {
    const { admin } = world;
    const account = await world.account();
    const name = `reader-${account.namespace}`;
    await must(
      admin.create(`${RBAC}/clusterroles`, {
        metadata: { name },
        rules: [
          { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
          { nonResourceURLs: ["*"], verbs: ["get"] },
        ],
      }),
    );
    await must(
      admin.create(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
      }),
    );
    const { api } = account;
    const attempts: Attempt[] = ["hub", ...MEMBERS].flatMap((cluster) => [
      { what: `GET the kubeconfig of ${cluster}`, send: () => api.get(`${LOGICAL_CLUSTERS}/${cluster}/kubeconfig`) },
      {
        what: `POST the kubeconfig of ${cluster}`,
        send: () => api.create(`${LOGICAL_CLUSTERS}/${cluster}/kubeconfig`, ""),
      },
    ]);
    attempts.push(
      {
        what: "create a token",
        send: () => api.create("/api/v1/namespaces/kube-system/serviceaccounts/default/token", { spec: {} }),
      },
      { what: "the stream of a standby hub", send: () => orStream(api.get("/replication/changes")) },
      { what: "the stream of a standby hub by POST", send: () => orStream(api.create("/replication/changes", "")) },
      { what: "the end of this hub", send: () => api.create("/replication/step-down?term=99&name=thief", "") },
      { what: "metrics", send: () => api.get("/metrics"), expected: [200] },
      { what: "exec by GET", send: () => api.get("/api/v1/namespaces/default/pods/x/exec?command=sh") },
      {
        what: "the hub's own kubeconfig, as administrator",
        send: () => admin.create(`${LOGICAL_CLUSTERS}/hub/kubeconfig`, ""),
      },
      { what: "read a Cluster", send: () => api.get("/apis/cluster.karmada.io/v1alpha1/clusters"), expected: [200] },
    );
    return runAttempts("kubeconfigs, tokens and the store, by a role with get, list and watch on everything", attempts);
  },
};

/** A response that continues is one that was granted. */
const orStream = (answer: ReturnType<Attempt["send"]>): ReturnType<Attempt["send"]> =>
  Promise.race([answer, delay(STREAM_MS, { status: 200, text: "a stream" })]);
const STREAM_MS = 2_000;

const namespaceAdmin: Attack = {
  name: "tenants/namespace-admin",
  claim: "the administrator of a namespace gets no permissions outside of it",
  short: true,
  async run(world) {
    const { api, namespace, name } = await world.account({ role: "admin" });
    const self = { kind: "ServiceAccount", name, namespace };
    const bind = (role: string, kind = "ClusterRole"): object => ({
      metadata: { name: "b" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
      subjects: [self],
    });
    const own = `${RBAC}/namespaces/${namespace}`;
    const policy = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "p" },
      spec: { resourceSelectors: [{ apiVersion: "v1", kind: "Secret", namespace: "kube-system" }], placement: {} },
    };
    const sends: Record<string, Attempt["send"]> = {
      "binds cluster-admin": () => api.create(`${own}/rolebindings`, bind("cluster-admin")),
      "creates a role with everything": () =>
        api.create(`${own}/roles`, {
          metadata: { name: "r" },
          rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
        }),
      "creates a role to escalate": () =>
        api.create(`${own}/roles`, {
          metadata: { name: "r" },
          rules: [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["escalate", "bind"] }],
        }),
      "binds cluster-wide": () => api.create(`${RBAC}/clusterrolebindings`, bind("view")),
      "impersonates an administrator": () =>
        api.as({ "impersonate-user": "admin", "impersonate-group": "system:masters" }).get("/api/v1/secrets"),
      "impersonates a group": () =>
        api
          .as({
            "impersonate-user": `system:serviceaccount:${namespace}:${name}`,
            "impersonate-group": "system:masters",
          })
          .get("/api/v1/secrets"),
      "impersonates another account": () =>
        api.as({ "impersonate-user": "system:serviceaccount:kube-system:default" }).get("/api/v1/secrets"),
      "creates a foreign token": () =>
        api.create("/api/v1/namespaces/kube-system/serviceaccounts/default/token", { spec: {} }),
      "reads foreign Secrets": () => api.get("/api/v1/namespaces/karmada-cluster/secrets"),
      "reads all Secrets": () => api.get("/api/v1/secrets"),
      "reads Works": () => api.get("/apis/work.karmada.io/v1alpha1/works"),
      "creates a Work": () =>
        api.create("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works", {
          apiVersion: "work.karmada.io/v1alpha1",
          kind: "Work",
          metadata: { name: "w" },
          spec: { workload: { manifests: [] } },
        }),
      "uses a member's API": () => api.get("/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/api/v1/secrets"),
      "gets a kubeconfig": () => api.create(`${LOGICAL_CLUSTERS}/member1/kubeconfig`, ""),
      "creates a cluster policy": () =>
        api.create(`${POLICY_KINDS}/clusterpropagationpolicies`, { ...policy, kind: "ClusterPropagationPolicy" }),
      "creates a policy elsewhere": () => api.create(`${POLICY_KINDS}/namespaces/default/propagationpolicies`, policy),
      "creates a policy for objects elsewhere": () =>
        api.create(`${POLICY_KINDS}/namespaces/${namespace}/propagationpolicies`, policy),
      "approves a certificate": () =>
        api.patch("merge", "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval", { status: {} }),
      "creates a LogicalCluster": () =>
        api.create(LOGICAL_CLUSTERS, { metadata: { name: "mine" }, spec: { profile: "empty" } }),
      "reads metrics": () => api.get("/metrics"),
      "watches all clusters": () => world.api({ token: "x" }, { cluster: "*" }).get("/api/v1/secrets?watch=true"),
    };
    const attempts: Attempt[] = Object.entries(sends).map(([what, send]) => ({ what, send }));
    attempts.push({
      what: "reads its own ConfigMaps",
      send: () => api.get(`/api/v1/namespaces/${namespace}/configmaps`),
      expected: [200],
    });
    return runAttempts(`${attempts.length - 1} requests beyond a namespace`, attempts);
  },
};

const logicalCluster: Attack = {
  name: "tenants/logical-cluster",
  claim: "credentials of one logical cluster are worth nothing in another",
  short: true,
  async run(world) {
    const token = await world.memberToken("member1");
    const account = await world.account({ cluster: "member1", token });
    const attempts: Attempt[] = ["hub", "member2", "*", "nowhere"].flatMap((cluster) =>
      [token, account.token].map((bearer) => ({
        what: `of member1 at ${cluster}`,
        send: () => world.api({ token: bearer }, { cluster }).get("/api/v1/namespaces"),
      })),
    );
    // At the root, credentials of one cluster are for that cluster: it does not have the namespaces of the hub.
    for (const bearer of [token, account.token])
      attempts.push(
        ...["/api/v1/namespaces/karmada-cluster", "/apis/cluster.karmada.io/v1alpha1/clusters/member2"].map((path) => ({
          what: `of member1 at / for ${path}`,
          send: () => world.api({ token: bearer }).get(path),
        })),
      );
    // Limits do not apply to the controllers of the hub, in any cluster.
    const asController = { "impersonate-user": "system:flotilla:execute", "impersonate-group": "system:flotilla" };
    attempts.push(
      {
        what: "the administrator of member1 as a controller of the hub",
        send: () => world.api({ token }, { cluster: "member1" }).as(asController).get("/api/v1/namespaces"),
      },
      {
        what: "the hub's kinds in member1",
        send: () => world.api({ token }, { cluster: "member1" }).get("/apis/cluster.karmada.io/v1alpha1/clusters"),
      },
      {
        what: "member1 itself",
        send: () => world.api({ token }, { cluster: "member1" }).get("/api/v1/namespaces"),
        expected: [200],
      },
    );
    return runAttempts("tokens of member1 at other clusters", attempts);
  },
};

const anonymous: Attack = {
  name: "tenants/anonymous",
  claim: "without credentials only health and cluster-info are answered",
  short: true,
  async run(world) {
    const api = world.api({});
    const paths = [
      "/",
      "/api",
      "/apis",
      "/api/v1",
      "/api/v1/namespaces",
      "/api/v1/secrets",
      "/openapi/v2",
      "/openapi/v3",
      "/version",
      "/metrics",
      "/debug/pprof/",
      "/logs",
      "/clusters/member1/api",
      "/clusters/member1/api/v1/secrets",
      "/clusters/*/api/v1/secrets?watch=true",
      "/apis/cluster.karmada.io/v1alpha1/clusters",
      LOGICAL_CLUSTERS,
      `${LOGICAL_CLUSTERS}/hub/kubeconfig`,
      "/.well-known/openid-configuration",
      "/api/v1/namespaces/kube-public/secrets",
      "/api/v1/namespaces/kube-system/configmaps",
    ];
    const attempts: Attempt[] = paths.map((path) => ({ what: path, send: () => api.get(path), expected: [401, 403] }));
    attempts.push({ what: "/readyz", send: () => api.get("/readyz"), expected: [200] });
    return runAttempts(`${paths.length} paths without credentials`, attempts);
  },
};

const PATHS = [
  "/../hub",
  "/%2e%2e/hub",
  "/..%2fhub",
  "//",
  "/./hub",
  "/member2",
  "/%2e/",
  "\\..\\hub",
  "/*",
  "/MEMBER1/../member2",
  "/member1/../../api/v1/secrets",
  "/member1/%2e%2e/%2e%2e/api/v1/secrets",
  "/member1//api/v1/../../../member2/api/v1/secrets",
  "/member1%00",
  "/member1%2fapi",
];
const pathTricks: Attack = {
  name: "tenants/path-tricks",
  claim: "no path leaves the logical cluster of its credentials",
  short: true,
  async run(world) {
    const api = world.api({ token: await world.memberToken("member1") });
    const attempts: Attempt[] = PATHS.flatMap((path) =>
      ["/api/v1/secrets", ""].map((rest) => ({ what: path + rest, send: () => api.get(`/clusters${path}${rest}`) })),
    );
    attempts.push(
      ...[
        "/clusters/member1/api/v1/namespaces/../../../../api/v1/secrets",
        "/clusters/member1/api/v1/namespaces/%2e%2e/%2e%2e",
        "/clusters/member1/api/v1/namespaces/kube-system%2f..%2fdefault/secrets",
      ].map((path) => ({ what: path, send: () => api.get(path) })),
    );
    return runAttempts(`${attempts.length} paths with the token of member1`, attempts);
  },
};

const GATE = "/apis/flotilla.dev/v1alpha1";
const deputies: Attack = {
  name: "tenants/deputies",
  claim: "what a tenant writes makes the hub use nothing that the tenant cannot use",
  short: true,
  async run(world) {
    const { admin } = world;
    const { api, namespace, name } = await world.account();
    const rbac = `${RBAC}/namespaces/${namespace}`;
    const groups = ["flotilla.dev", "autoscaling.karmada.io", "policy.karmada.io"];
    await must(
      admin.create(`${rbac}/roles`, {
        metadata: { name },
        rules: groups.map((group) => ({ apiGroups: [group], resources: ["*"], verbs: ["*"] })),
      }),
    );
    await must(
      admin.create(`${rbac}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      }),
    );
    const strategies = `${GATE}/namespaces/${namespace}/rolloutstrategies`;
    const rollouts = `${GATE}/namespaces/${namespace}/fleetrollouts`;
    const strategy = (gate: object, by = "s"): object => ({
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "RolloutStrategy",
      metadata: { name: by },
      spec: { selector: { matchLabels: { app: "web" } }, waves: [{ name: "all", after: [gate] }] },
    });
    const pods = (image: string): object => ({
      template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image }] } },
    });
    await must(admin.create(strategies, strategy({ job: { template: pods("check:1") } }, "checked")));
    const wave = (gate: object): object => ({ spec: { waves: [{ name: "all", after: [gate] }] } });
    const sends: Record<string, Attempt["send"]> = {
      "a gate asks the hub itself": () =>
        api.create(strategies, strategy({ webhook: { url: `https://127.0.0.1:${world.port}/replication/changes` } })),
      "a gate asks a metadata service": () =>
        api.create(strategies, strategy({ metric: { server: "http://169.254.169.254", query: "up", min: "1" } })),
      "a gate asks an address without a host": () =>
        api.create(strategies, strategy({ metric: { server: "http:////", query: "up", min: "1" } })),
      "a gate runs a Job": () => api.create(strategies, strategy({ job: { template: pods("evil:1") } })),
      "a gate of the administrator runs another Job": () =>
        api.patch("merge", `${strategies}/checked`, wave({ job: { template: pods("evil:1") } })),
      "a release of a template of others": () =>
        api.create(rollouts, {
          apiVersion: "flotilla.dev/v1alpha1",
          kind: "FleetRollout",
          metadata: { name: "r" },
          spec: {
            target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            template: { spec: { containers: [{ name: "main", image: "evil:1" }] } },
          },
        }),
    };
    const attempts: Attempt[] = Object.entries(sends).map(([what, send]) => ({ what, send }));
    attempts.push({
      what: "a gate that asks nothing",
      send: () => api.create(strategies, strategy({ approval: {} }, "own")),
      expected: [201],
    });
    return runAttempts(`${attempts.length - 1} references by a tenant who may write releases, and no more`, attempts);
  },
};

const HELD_REQUESTS = { short: 300, full: 900 };
const seats: Attack = {
  name: "tenants/seats",
  claim: "two logical clusters whose requests wait for webhooks of their own leave room for others",
  short: true,
  async run(world) {
    const { admin } = world;
    const suffix = Date.now().toString(36);
    const [name, ...attacking] = ["third", "one", "two"].map((each) => `${each}-${suffix}`);
    for (const each of [name, ...attacking]) {
      await must(admin.create(LOGICAL_CLUSTERS, { metadata: { name: each }, spec: { profile: "member-bare" } }));
      world.onEnd(() => admin.delete(`${LOGICAL_CLUSTERS}/${each}`));
    }
    const slow = await startSlowServer(world);
    const count = world.isShort ? HELD_REQUESTS.short : HELD_REQUESTS.full;
    const held: Promise<number>[] = [];
    for (const cluster of attacking) {
      const owner = world.api({ token: world.adminToken }, { cluster });
      const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
      world.onEnd(() => owner.delete(`${hooks}/slow`));
      await must(
        owner.create(hooks, {
          metadata: { name: "slow" },
          webhooks: [
            {
              name: "slow.example.com",
              clientConfig: { url: `${slow.url}/`, caBundle: slow.ca },
              rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
              sideEffects: "None",
              admissionReviewVersions: ["v1"],
              timeoutSeconds: 30,
            },
          ],
        }),
      );
      for (let index = 0; index < count; index++)
        held.push(
          statusOf(owner.create("/api/v1/namespaces/default/configmaps", { metadata: { generateName: "held-" } })),
        );
    }
    await delay(1_000);
    const waits: number[] = [];
    const odd: number[] = [];
    const end = performance.now() + (world.isShort ? 2_000 : 20_000);
    while (performance.now() < end && !world.signal.aborted) {
      const start = performance.now();
      const status = await statusOf(admin.get(`/clusters/${name}/api/v1/namespaces`));
      waits.push(performance.now() - start);
      if (status !== 200) odd.push(status);
      await delay(50);
    }
    const longest = Math.round(Math.max(...waits));
    slow.end();
    const statuses = await Promise.all(held);
    return verdictOf(
      `${held.length} requests that wait for webhooks of two logical clusters, ${slow.calls()} calls of them`,
      [
        ...(slow.calls() === 0 ? ["no webhook was called"] : []),
        ...(odd.length > 0 ? [`a third cluster was answered ${countStatuses(odd)}`] : []),
        ...(longest > SEAT_LIMIT_MS ? [`a third cluster waited ${longest} ms`] : []),
      ],
      `a third cluster was answered ${waits.length} times and waited ${longest} ms at most; of the others ${countStatuses(statuses)}`,
    );
  },
};
/** Well below the 15 s after which a request without a seat is rejected. */
const SEAT_LIMIT_MS = 2_000;

/** A webhook that answers after `end`. */
async function startSlowServer(world: World): Promise<{ url: string; ca: string; calls(): number; end(): void }> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate: cert, key } = await authority.issueServing([]);
  const ended = Promise.withResolvers<void>();
  let calls = 0;
  const server = https.createServer({ cert, key }, (request, response) => {
    calls++;
    request.resume();
    void ended.promise.then(() => response.writeHead(503).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  world.onEnd(() => {
    ended.resolve();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: Buffer.from(authority.certificate).toString("base64"),
    calls: () => calls,
    end: ended.resolve,
  };
}

export const tenants: readonly Attack[] = [
  anonymous,
  reader,
  namespaceAdmin,
  deputies,
  logicalCluster,
  pathTricks,
  seats,
];
