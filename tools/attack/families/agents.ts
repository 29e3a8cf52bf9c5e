/** Hostile agents, and the misuse of join tokens (S1, S2, S4, S5). */
import { once } from "node:events";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import { notTried, runAttempts, statusOf, verdictOf, type Attack, type Attempt } from "../attack.ts";
import { createJoinToken, registerAgent, requestCertificate } from "../agent-identity.ts";
import { eventually, must, type World } from "../world.ts";
import type { Api } from "../../../test/programs/raw-client.ts";

const CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters";
const WORKS = "/apis/work.karmada.io/v1alpha1";
const SECRETS = "/api/v1/namespaces/karmada-cluster/secrets";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/karmada-cluster/leases";
let registered = 0;
const nextName = (): string => `oslo${++registered}`;
const cluster = (name: string, spec: object): object => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec,
});

/** A server that records the credentials that it is sent. */
async function startCapture(world: World): Promise<{ url: string; stolen(): number }> {
  let stolen = 0;
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate: cert, key } = await authority.issueServing([]);
  const server = https.createServer({ cert, key }, (request, response) => {
    if (request.headers.authorization !== undefined) stolen++;
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  world.onEnd(() => server.close());
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, stolen: () => stolen };
}

const stealCredentials: Attack = {
  name: "agents/steal-credentials",
  claim: "neither an agent nor a user who may create Clusters makes the hub send a member's token elsewhere (S1)",
  short: true,
  async run(world) {
    const { admin } = world;
    const capture = await startCapture(world);
    const secretRef = { namespace: "karmada-cluster", name: "victim" };
    await must(admin.create(SECRETS, { metadata: { name: "victim" }, stringData: { token: "t0k3n", caBundle: "x" } }));
    world.onEnd(() => admin.delete(`${SECRETS}/victim`));
    const name = nextName();
    const agent = await registerAgent(world, name);
    const user = await createClusterWriter(world);
    const spec = {
      syncMode: "Push",
      apiEndpoint: capture.url,
      insecureSkipTLSVerification: true,
      secretRef,
      impersonatorSecretRef: secretRef,
    };
    const control = { namespace: "karmada-cluster", name: "control" };
    await must(admin.create(SECRETS, { metadata: { name: "control" }, stringData: { token: "t0k3n", caBundle: "x" } }));
    world.onEnd(() => admin.delete(`${SECRETS}/control`));
    // The administrator may: otherwise the rejections below would show nothing.
    await must(
      admin.create(
        `${CLUSTERS}?dryRun=All`,
        cluster("control", { ...spec, secretRef: control, impersonatorSecretRef: control }),
      ),
    );
    const statuses: string[] = [];
    const attempt = async (what: string, send: Promise<{ status: number }>): Promise<void> =>
      void statuses.push(`${what} ${await statusOf(send)}`);
    await attempt("agent reads the Secret:", agent.get(`${SECRETS}/victim`));
    await attempt("agent creates another Cluster:", agent.create(CLUSTERS, cluster("thief", spec)));
    await attempt("agent changes its own Cluster:", agent.patch("merge", `${CLUSTERS}/${name}`, { spec }));
    await attempt("user creates a Cluster:", user.create(CLUSTERS, cluster("thief2", spec)));
    world.onEnd(async () => [await admin.delete(`${CLUSTERS}/thief`), await admin.delete(`${CLUSTERS}/thief2`)]);
    await delay(world.isShort ? 1_000 : 8_000);
    const failures = statuses.filter((line) => / 20\d$/.test(line));
    if (capture.stolen() > 0) failures.push(`${capture.stolen()} requests with credentials arrived`);
    return verdictOf(
      "Clusters that name the Secret of another member and an address of the attacker",
      failures,
      statuses.join(", "),
    );
  },
};

/** A user whose only permission is to create Clusters. */
async function createClusterWriter(world: World): Promise<Api> {
  const account = await world.account();
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const name = `writer-${account.namespace}`;
  await must(
    world.admin.create(`${rbac}/clusterroles`, {
      metadata: { name },
      rules: [
        { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["create", "update", "patch", "get"] },
      ],
    }),
  );
  await must(
    world.admin.create(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
    }),
  );
  return account.api;
}

const joinTokens: Attack = {
  name: "agents/join-tokens",
  claim: "a join token registers one new cluster, and nothing else (S2)",
  short: true,
  async run(world) {
    const [karmada, ocm] = [
      world.api({ token: await createJoinToken(world, "karmada") }),
      world.api({ token: await createJoinToken(world, "ocm") }),
    ];
    const failures: string[] = [];
    const expectNone = async (what: string, requester: Api, user: string, group?: string): Promise<void> => {
      if (await requestCertificate(world, requester, user, group)) failures.push(`${what}: a certificate was issued`);
    };
    await Promise.all([
      expectNone("rbac-generator", karmada, "system:karmada:agent:rbac-generator"),
      expectNone("an existing member", karmada, "system:karmada:agent:member1"),
      expectNone("an administrator", karmada, "admin", "system:masters"),
      expectNone("registration with Karmada by a token of OCM", ocm, "system:karmada:agent:other"),
    ]);
    const first = nextName();
    const isIssued = (await requestCertificate(world, karmada, `system:karmada:agent:${first}`)) !== undefined;
    if (isIssued) await expectNone("the second cluster of one token", karmada, `system:karmada:agent:${nextName()}`);
    const reads = [
      `${WORKS}/works`,
      `${WORKS}/namespaces/karmada-es-member1/works`,
      SECRETS,
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
      "/api/v1/configmaps",
      CLUSTERS,
    ];
    for (const path of reads)
      for (const [way, api] of [
        ["karmada", karmada],
        ["ocm", ocm],
      ] as const) {
        const status = await statusOf(api.get(path));
        if (status < 400) failures.push(`the ${way} token reads ${path}: ${status}`);
      }
    return verdictOf(
      "certificates for other users and names, and reads, with two join tokens",
      failures,
      `the certificate of a new cluster was ${isIssued ? "" : "not "}issued, nothing else`,
    );
  },
};

const foreignObjects: Attack = {
  name: "agents/foreign-objects",
  claim: "an agent reads and writes only the objects of its own cluster (S2, S4)",
  short: true,
  async run(world) {
    const { admin } = world;
    const [own, other] = [nextName(), nextName()];
    const agent = await registerAgent(world, own);
    await registerAgent(world, other);
    const lease = (name: string): object => ({
      metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 40 },
    });
    await admin.create(LEASES, lease(other));
    const work = {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: { name: "planted" },
      spec: { workload: { manifests: [] } },
    };
    const attempts: Record<string, () => ReturnType<Api["get"]>> = {
      "lists all Works": () => agent.get(`${WORKS}/works`),
      "lists Works of member1": () => agent.get(`${WORKS}/namespaces/karmada-es-member1/works`),
      "creates a Work for member1": () => agent.create(`${WORKS}/namespaces/karmada-es-member1/works`, work),
      "creates a Work for another agent": () => agent.create(`${WORKS}/namespaces/karmada-es-${other}/works`, work),
      "renews the Lease of another": () =>
        agent.patch("merge", `${LEASES}/${other}`, { spec: { renewTime: "2030-01-01T00:00:00.000000Z" } }),
      "creates the Lease of member2": () => agent.create(LEASES, lease("member2")),
      "renews a Lease of OCM's": () =>
        agent.patch("merge", `/apis/coordination.k8s.io/v1/namespaces/${other}/leases/managed-cluster-lease`, {
          spec: {},
        }),
      "changes another Cluster": () => agent.patch("merge", `${CLUSTERS}/${other}`, { spec: { region: "x" } }),
      "deletes member2": () => agent.delete(`${CLUSTERS}/member2?dryRun=All`),
      "writes the status of another Cluster": () =>
        agent.patch("merge", `${CLUSTERS}/${other}/status`, { status: { conditions: [] } }),
      "lists Secrets": () => agent.get("/api/v1/secrets"),
      "reads a Secret of another": () => agent.get(`${SECRETS}/member1`),
      "creates a ClusterRole": () =>
        agent.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
          metadata: { name: "x" },
          rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
        }),
      "proxies to a member": () => agent.get(`${CLUSTERS}/member1/proxy/api/v1/namespaces/kube-system/secrets`),
    };
    const list: Attempt[] = Object.entries(attempts).map(([what, send]) => ({ what, send }));
    // The agent's own rights show that its certificate works.
    list.push({ what: "reads its own Cluster", send: () => agent.get(`${CLUSTERS}/${own}`), expected: [200] });
    return runAttempts(`${list.length - 1} requests of an agent for objects of others`, list);
  },
};

const HOSTILE_STATUSES: readonly string[] = [
  '{"kubernetesVersion":"__proto__","nodeSummary":{"totalNum":-5,"readyNum":2147483647},"__proto__":' +
    '{"polluted":1},"conditions":[{"type":"Ready","status":"True","reason":"x","message":"x",' +
    '"lastTransitionTime":"2030-01-01T00:00:00Z"}]}',
  '{"resourceSummary":{"allocatable":{"cpu":"-1","memory":"1e300"},"allocated":{"cpu":"9223372036854775807"}}}',
  '{"conditions":"x"}',
  `{"apiEnablements":[${Array(20_000).fill('{"groupVersion":"a/v1","resources":[]}').join(",")}]}`,
  `${'{"a":'.repeat(900)}1${"}".repeat(900)}`,
];

const hostileStatus: Attack = {
  name: "agents/hostile-status",
  claim: "what an agent reports about its own cluster changes nothing elsewhere",
  short: true,
  async run(world) {
    const { admin } = world;
    const name = nextName();
    const agent = await registerAgent(world, name);
    const before = (await admin.get(`${CLUSTERS}/member1`)).body;
    const statuses: number[] = [];
    for (const status of HOSTILE_STATUSES) {
      const { status: _, ...own } = (await agent.get(`${CLUSTERS}/${name}`)).body;
      const body = `${JSON.stringify(own).slice(0, -1)},"status":${status}}`;
      statuses.push(await statusOf(agent.replace(`${CLUSTERS}/${name}/status`, body)));
    }
    if (statuses.every((status) => status === 403))
      return notTried("hostile statuses", "the agent may not write its status");
    await delay(1_000);
    const after = (await admin.get(`${CLUSTERS}/member1`)).body;
    const failures = [
      ...(after.metadata.generation === before.metadata.generation ? [] : ["member1 was changed"]),
      ...(JSON.stringify(after).includes("polluted") ? ["member1 has a polluted field"] : []),
      ...(statuses.some((status) => status >= 500) ? [`an internal error: ${statuses.join(", ")}`] : []),
    ];
    return verdictOf("negative, huge, deep and malformed statuses", failures, statuses.join(", "));
  },
};

const foreignNames: Attack = {
  name: "agents/foreign-names",
  claim: "a Cluster does not take the name of a logical cluster of another owner, or of the hub (S5)",
  short: true,
  async run(world) {
    const { admin } = world;
    const name = `si-paris-${++registered}`;
    await must(
      admin.create("/apis/flotilla.dev/v1alpha1/logicalclusters", {
        metadata: { name },
        spec: { profile: "member-bare" },
      }),
    );
    world.onEnd(() => admin.delete(`/apis/flotilla.dev/v1alpha1/logicalclusters/${name}`));
    const user = await createClusterWriter(world);
    return runAttempts(
      "Clusters with the name of a logical cluster and of the hub, by a user who may only create Clusters",
      [
        {
          what: "the name of a logical cluster",
          send: () => user.create(CLUSTERS, cluster(name, { syncMode: "Push" })),
        },
        { what: "the same, in pull mode", send: () => user.create(CLUSTERS, cluster(name, { syncMode: "Pull" })) },
        { what: "hub", send: () => user.create(CLUSTERS, cluster("hub", { syncMode: "Push" })) },
      ],
    );
  },
};

const formerAgent: Attack = {
  name: "agents/former-agent",
  claim: "the certificate of an agent whose cluster left is worth nothing when the name is registered again",
  short: true,
  async run(world) {
    const { admin } = world;
    const name = nextName();
    const former = await registerAgent(world, name);
    const own = `${CLUSTERS}/${name}`;
    const works = `${WORKS}/namespaces/karmada-es-${name}/works`;
    const before = await statusOf(former.get(own));
    await must(admin.delete(own));
    const isGone = async (): Promise<true | undefined> => ((await admin.get(own)).status === 404 ? true : undefined);
    const hasLeft = async (): Promise<true | undefined> =>
      (await statusOf(former.get(own))) >= 400 ? true : undefined;
    const limitMs = 15_000;
    if (!(await eventually(isGone, limitMs)) || !(await eventually(hasLeft, limitMs)))
      return notTried("a name that is registered again", "the cluster did not leave");
    const present = await registerAgent(world, name);
    const failures: string[] = [];
    const seen: string[] = [`before it left: ${before}`, `the new agent: ${await statusOf(present.get(own))}`];
    for (const [what, send] of [
      ["reads its Cluster", () => former.get(own)],
      ["reads its Works", () => former.get(works)],
      ["reads its Secrets", () => former.get(`${SECRETS}/${name}`)],
      ["asks for a new certificate", () => former.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")],
    ] as const) {
      const status = await statusOf(send());
      seen.push(`the former agent ${what}: ${status}`);
      if (status !== 401) failures.push(`the former agent ${what}: ${status}`);
    }
    return verdictOf("a cluster that leaves and is registered again by another agent", failures, seen.join(", "));
  },
};

export const agents: readonly Attack[] = [
  stealCredentials,
  joinTokens,
  foreignObjects,
  hostileStatus,
  foreignNames,
  formerAgent,
];
