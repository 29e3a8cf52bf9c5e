/**
 * Every group of controllers does the same in the process of its API server and over HTTP: what a controller may do
 * depends on who it is, not on how its requests arrive.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Workflow } from "@flotilla/argo";
import {
  Cluster,
  ClusterTaintPolicy,
  FederatedHpa,
  FederatedResourceQuota,
  PropagationPolicy,
  ResourceBinding,
  Work,
  WorkloadRebalancer,
} from "@flotilla/karmada";
import {
  ConfigMap,
  Deployment,
  Job,
  Namespace,
  Pod,
  ReplicaSet,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from "@flotilla/kubernetes";
import { createCertificateAuthority, HUB, isConditionTrue } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import {
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import { createAuthenticator, createHttpServer, createMemoryEngine } from "@flotilla/apiserver";
import type { ApiServer } from "@flotilla/apiserver";
import { silentLog, systemClock, systemRandom } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { createHttp2Transport, find } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createHub } from "@flotilla/server";
import type { Hub } from "@flotilla/server";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { eventually } from "../programs/eventually.ts";
import { FleetRollout, flotillaUser, RolloutStrategy } from "@flotilla/flotilla";

/** Longer than `eventually` waits, so that it says for what. */
const LIMIT_MS = 90_000;
const [PUSHED, PULLED] = ["member1", "member2"];

/** Replaces the direct transport of every part by HTTP/2 with a certificate of that part's user. */
async function overHttp(): Promise<{
  wrap(direct: Transport, part: string): Transport;
  serve(server: ApiServer): Promise<void>;
  close(): Promise<void>;
}> {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const serving = await authority.issueServing([]);
  const listening = Promise.withResolvers<URL>();
  const transports: Promise<Transport>[] = [];
  let closeServer = async (): Promise<void> => {};

  async function connect(part: string): Promise<Transport> {
    const { name: commonName, groups } = flotillaUser(part);
    const organizations = groups.filter((group) => group !== "system:authenticated");
    const { certificate, key } = await authority.issueClient({ commonName, organizations });
    return createHttp2Transport({
      server: await listening.promise,
      cluster: { root: HUB },
      ca: authority.certificate,
      cert: certificate,
      key,
    });
  }

  return {
    wrap(_direct, part) {
      const opened = connect(part);
      transports.push(opened);
      return {
        send: async (...request) => (await opened).send(...request),
        async *watch(...request) {
          yield* (await opened).watch(...request);
        },
        raw: async (...request) => (await opened).raw(...request),
        close: async () => (await opened).close(),
      };
    },
    async serve(server) {
      const http = createHttpServer({
        handle: (request) => server.handle(request),
        authenticator: createAuthenticator({
          clusterPrefix: "example.com:cluster:",
          tokens: server.tokens,
          isCluster: server.isCluster,
        }),
        tls: { ...serving, clientCa: authority.certificate },
        log: silentLog,
      });
      closeServer = () => http.close();
      listening.resolve(new URL(`https://127.0.0.1:${(await http.listen(0)).port}`));
    },
    async close() {
      for (const transport of transports) await (await transport).close();
      await closeServer();
    },
  };
}

const inProcess = async (): ReturnType<typeof overHttp> => ({
  wrap: (direct) => direct,
  serve: async () => {},
  close: async () => {},
});

const transports = { "in the process of the API server": inProcess, "over HTTP": overHttp };

/** Parts that only read, or that write only in situations that no test here causes; each with its reason. */
const WITHOUT_WRITES: Readonly<Record<string, string>> = {
  "agent-access": "gives access to the agent of a pull member in another process; here the agent is in this process",
  "agent-registration": "signs the requests of agents in another process, which test/e2e/agent.test.ts starts",
  certificates:
    "signs the requests of Open Cluster Management's agents, as in test/simulation/ocm-certificates.test.ts",
  discovery: "reads",
  interpreter: "reads the events of rules that failed before this process started",
  impersonation: "grants the hub's users rights on members that have an account; simulated ones have none",
  "pull-health": "marks a member whose agent is silent for minutes; no fake clock here",
  rotation: "replaces the tokens of real members",
};

describe.each(Object.entries(transports))("controllers %s", { timeout: LIMIT_MS }, (_name, open) => {
  const stop = new AbortController();
  let transport: Awaited<ReturnType<typeof overHttp>>;
  let hub: Hub;
  /** Whether each part of the hub has written. Every controller is given the client of its part, through `wrap`. */
  const hasWritten = new Map<string, boolean>();
  const observed = (direct: Transport, part: string): Transport => {
    const used = transport.wrap(direct, part);
    hasWritten.set(part, hasWritten.get(part) ?? false);
    return {
      ...used,
      async send(request, signal) {
        const answer = await used.send(request, signal);
        if (!["get", "list", "watch"].includes(request.verb)) hasWritten.set(part, true);
        return answer;
      },
    };
  };

  const see = <T extends KubernetesObject>(
    kind: Kind<T>,
    key: { cluster?: string; namespace?: string; name: string },
    isRight: (object: DeepReadonly<T> | undefined) => boolean,
  ): Promise<DeepReadonly<T> | undefined> =>
    eventually(`${kind.kind} ${key.name}`, () => find(hub.client, kind, { cluster: HUB, ...key }), isRight);

  beforeAll(async () => {
    transport = await open();
    hub = await createHub({
      engine: createMemoryEngine(),
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      kruise: "installed",
      nodes: 2,
      times: { startMs: 0, restartMs: 0, stopMs: 0 },
      membershipTimes: { periodMs: 200, successMs: 0, failureMs: 1000 },
      pull: [PULLED],
      wrap: observed,
      onServer: transport.serve,
    });
    await hub.start(stop.signal);
    await hub.addMembers([PUSHED, PULLED], (name) => `https://127.0.0.1/clusters/${name}`, stop.signal);
    await hub.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  }, LIMIT_MS);
  afterAll(async () => {
    stop.abort();
    await hub?.stop();
    await transport?.close();
  }, LIMIT_MS);

  test("membership and registration: both members are ready in both APIs", async () => {
    for (const name of [PUSHED, PULLED]) {
      const cluster = await see(Cluster, { name }, (seen) => isConditionTrue(seen?.status?.conditions ?? [], "Ready"));
      const managed = await see(ManagedCluster, { name }, (seen) =>
        isConditionTrue(seen?.status?.conditions ?? [], "ManagedClusterConditionAvailable"),
      );
      expect([cluster?.spec.syncMode, managed?.spec.hubAcceptsClient]).toEqual([
        name === PULLED ? "Pull" : "Push",
        true,
      ]);
    }
  });

  test("system: a service account token Secret is filled in, and quota is counted", async () => {
    const { client } = hub;
    await client.create(ServiceAccount, HUB, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "robot", namespace: "shop" },
    });
    await client.create(Secret, HUB, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "robot-token",
        namespace: "shop",
        annotations: { "kubernetes.io/service-account.name": "robot" },
      },
      type: "kubernetes.io/service-account-token",
    });
    await client.create(ResourceQuota, HUB, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "few", namespace: "shop" },
      spec: { hard: { secrets: "5" } },
    });

    await see(Secret, { namespace: "shop", name: "robot-token" }, (secret) => Boolean(secret?.data?.["token"]));
    const quota = await see(
      ResourceQuota,
      { namespace: "shop", name: "few" },
      (seen) => seen?.status?.used?.["secrets"] === "1",
    );
    expect(quota?.status?.hard).toEqual({ secrets: "5" });
  });

  test("propagation, workloads and simulation: a divided Deployment runs on both members, and its status adds up", async () => {
    const { client } = hub;
    await client.create(
      PropagationPolicy,
      HUB,
      makePolicy("shop/web")
        .selects("apps/v1", "Deployment", "web")
        .weights({ [PUSHED]: 1, [PULLED]: 1 })
        .build(),
    );
    await client.create(Deployment, HUB, makeDeployment("shop/web").replicas(4).build());

    const web = { namespace: "shop", name: "web" };
    await see(Deployment, web, (deployment) => deployment?.status?.readyReplicas === 4);
    await see(ResourceBinding, { namespace: "shop", name: "web-deployment" }, (binding) =>
      isConditionTrue(binding?.status?.conditions ?? [], "FullyApplied"),
    );
    for (const cluster of [PUSHED, PULLED])
      await see(Deployment, { cluster, ...web }, (deployment) => deployment?.status?.readyReplicas === 2);
    const { items } = await client.list(Work, { cluster: HUB, namespace: `karmada-es-${PUSHED}` });
    // The pipeline's own objects carry no field managers, whichever transport wrote them.
    expect(items.map(({ metadata }) => metadata.managedFields)).toEqual(items.map(() => undefined));
    expect(items.length).toBeGreaterThan(0);
  });

  test("expiry: a Job that has run on a member is deleted after its time to live", async () => {
    const { client } = hub;
    const policy = makePolicy("shop/once").selects("batch/v1", "Job", "once").duplicates(PUSHED).build();
    await client.create(PropagationPolicy, HUB, policy);
    const containers = [{ name: "main", image: "once:1" }];
    await client.create(Job, HUB, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "once", namespace: "shop" },
      spec: { ttlSecondsAfterFinished: 0, template: { spec: { restartPolicy: "Never", containers } } },
    });
    const once = { namespace: "shop", name: "once" };

    await see(Job, { cluster: PUSHED, ...once }, (copy) => copy !== undefined);

    expect(await see(Job, once, (template) => template === undefined)).toBeUndefined();
    expect(await see(Job, { cluster: PUSHED, ...once }, (copy) => copy === undefined)).toBeUndefined();
  });

  test("releases: a template with a strategy gets a FleetRollout", async () => {
    const { client } = hub;
    const strategy = {
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "RolloutStrategy",
      metadata: { name: "careful", namespace: "shop" },
      spec: { selector: { matchLabels: { release: "careful" } }, waves: [{ name: "all" }] },
    };
    await client.create(RolloutStrategy, HUB, strategy as unknown as RolloutStrategy);
    const policy = makePolicy("shop/api").selects("apps/v1", "Deployment", "api").duplicates(PUSHED).build();
    await client.create(PropagationPolicy, HUB, policy);
    await client.create(Deployment, HUB, makeDeployment("shop/api").labels({ release: "careful" }).build());

    await see(
      Deployment,
      { cluster: PUSHED, namespace: "shop", name: "api" },
      (deployment) => deployment !== undefined,
    );
    const { items } = (await eventually(
      "a FleetRollout that ended",
      () => client.list(FleetRollout, { cluster: HUB, namespace: "shop" }),
      (seen) => seen?.items.some(({ status }) => status?.phase === "Succeeded") ?? false,
    )) ?? { items: [] };
    expect(items.map(({ spec }) => spec.target.name)).toEqual(["api"]);
  });

  test("OpenKruise and OCM: a ManifestWork's CloneSet runs on the member, and feedback returns", async () => {
    const cloneSet = {
      apiVersion: "apps.kruise.io/v1alpha1",
      kind: "CloneSet",
      metadata: { name: "cart", namespace: "default" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "cart" } },
        template: { metadata: { labels: { app: "cart" } }, spec: { containers: [{ name: "main", image: "cart:1" }] } },
      },
    };
    for (const cluster of [PUSHED, PULLED]) {
      await hub.client.create(ManifestWork, HUB, {
        apiVersion: "work.open-cluster-management.io/v1",
        kind: "ManifestWork",
        metadata: { name: "cart", namespace: cluster },
        spec: { workload: { manifests: [cloneSet] } },
      });
      await see(
        CloneSet,
        { cluster, namespace: "default", name: "cart" },
        (found) => found?.status?.readyReplicas === 2,
      );
      await see(ManifestWork, { namespace: cluster, name: "cart" }, (work) =>
        isConditionTrue(work?.status?.conditions ?? [], "Available"),
      );
    }
    const { items } = await hub.client.list(Pod, { cluster: PUSHED, namespace: "default" });
    expect(items.every(({ spec }) => spec.nodeName !== undefined)).toBe(true);
  });

  test("dependencies, failover, eviction and rebalancing: a Deployment leaves a tainted member together with its ConfigMap, and returns", async () => {
    const { client } = hub;
    const placed = async (): Promise<string[]> =>
      (
        (await client.get(ResourceBinding, { cluster: HUB, namespace: "shop", name: "mover-deployment" })).spec
          .clusters ?? []
      )
        .map(({ name }) => name)
        .toSorted();
    const taint = (taints: Cluster["spec"]["taints"] | null): Promise<unknown> =>
      client.patch(Cluster, { cluster: HUB, name: PUSHED }, { spec: { taints } } as Json, { type: "merge" });
    await client.create(ConfigMap, HUB, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "shop" },
    });
    const policy = makePolicy("shop/mover")
      .selects("apps/v1", "Deployment", "mover")
      .weights({ [PUSHED]: 1, [PULLED]: 1 })
      .with(({ spec }) => {
        spec.propagateDeps = true;
        spec.failover = { cluster: { purgeMode: "Gracefully" } };
      });
    await client.create(PropagationPolicy, HUB, policy.build());
    const mover = makeDeployment("shop/mover")
      .replicas(2)
      .with(({ spec }) => {
        const [container] = spec.template.spec?.containers ?? [];
        if (container) container.envFrom = [{ configMapRef: { name: "settings" } }];
      });
    await client.create(Deployment, HUB, mover.build());
    const settings = { namespace: "shop", name: "settings" };
    await see(ConfigMap, { cluster: PUSHED, ...settings }, (found) => found !== undefined);

    await taint([{ key: "maintenance", effect: "NoExecute" }]);
    await eventually("left", placed, (clusters) => clusters.join() === PULLED);
    await see(ConfigMap, { cluster: PUSHED, ...settings }, (found) => found === undefined);
    await see(
      ResourceBinding,
      { namespace: "shop", name: "mover-deployment" },
      (binding) => (binding?.spec.gracefulEvictionTasks ?? []).length === 0,
    );
    await taint(null);
    // Both times have whole seconds, as in Karmada: a request of the same second is not after the last scheduling.
    await see(
      ResourceBinding,
      { namespace: "shop", name: "mover-deployment" },
      (binding) => Date.now() >= Date.parse(binding?.status?.lastScheduledTime ?? "") + 1000,
    );
    await client.create(WorkloadRebalancer, HUB, {
      apiVersion: "apps.karmada.io/v1alpha1",
      kind: "WorkloadRebalancer",
      metadata: { name: "evenly" },
      spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "mover" }] },
    });

    expect(await eventually("returned", placed, (clusters) => clusters.length === 2)).toEqual([PUSHED, PULLED]);
    await see(ConfigMap, { cluster: PUSHED, ...settings }, (found) => found !== undefined);
  });

  test("revision history: every template of a Deployment is a revision on the hub", async () => {
    const { client } = hub;
    const policy = makePolicy("shop/versions").selects("apps/v1", "Deployment", "versions").duplicates(PUSHED);
    await client.create(PropagationPolicy, HUB, policy.build());
    await client.create(Deployment, HUB, makeDeployment("shop/versions").build());
    const images = async (): Promise<string[]> =>
      (await client.list(ReplicaSet, { cluster: HUB, namespace: "shop" })).items
        .filter(({ metadata }) => metadata.name.startsWith("versions-"))
        .map(({ spec }) => spec.template?.spec?.containers[0]?.image ?? "")
        .toSorted();
    await eventually("the first revision", images, (seen) => seen.length === 1);

    const template = { spec: { containers: [{ name: "versions", image: "versions:2" }] } };
    const key = { cluster: HUB, namespace: "shop", name: "versions" };
    await client.patch(Deployment, key, { spec: { template } }, { type: "strategic" });

    const seen = await eventually("the second revision", images, ({ length }) => length === 2);
    expect(seen).toContain("versions:2");
  });

  test("placements: a ManifestWorkReplicaSet runs on the clusters that a Placement decides on", async () => {
    const { client } = hub;
    await client.create(ManagedClusterSetBinding, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1beta2",
      kind: "ManagedClusterSetBinding",
      metadata: { name: "default", namespace: "shop" },
      spec: { clusterSet: "default" },
    });
    await client.create(OcmPlacement, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1beta1",
      kind: "Placement",
      metadata: { name: "all", namespace: "shop" },
      spec: {},
    });
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "placed", namespace: "default" } };
    await client.create(ManifestWorkReplicaSet, HUB, {
      apiVersion: "work.open-cluster-management.io/v1alpha1",
      kind: "ManifestWorkReplicaSet",
      metadata: { name: "placed", namespace: "shop" },
      spec: {
        cascadeDeletionPolicy: "Background",
        placementRefs: [{ name: "all" }],
        manifestWorkTemplate: { workload: { manifests: [manifest] } },
      },
    });

    await see(
      ManifestWorkReplicaSet,
      { namespace: "shop", name: "placed" },
      (set) => set?.status?.summary?.available === 2,
    );
    const { items } = await client.list(PlacementDecision, { cluster: HUB, namespace: "shop" });
    const decided = items.flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName));
    expect(decided.toSorted()).toEqual([PUSHED, PULLED]);
    for (const cluster of [PUSHED, PULLED])
      await see(ConfigMap, { cluster, namespace: "default", name: "placed" }, (found) => found !== undefined);
  });

  test("Argo: a Workflow runs on a member", async () => {
    await hub.client.create(Workflow, PUSHED, {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Workflow",
      metadata: { name: "hello", namespace: "default" },
      spec: {
        entrypoint: "main",
        templates: [{ name: "main", container: { image: "hello:1", command: ["echo", "hello"] } }],
      },
    });

    const key = { cluster: PUSHED, namespace: "default", name: "hello" };
    const workflow = await see(Workflow, key, (seen) => seen?.status?.phase === "Succeeded");
    expect(workflow?.status?.progress).toBe("1/1");
  });

  test("managed namespaces and taint policies: a cluster set creates a namespace on its members, and a condition taints them", async () => {
    const { client } = hub;
    const set = { cluster: HUB, name: "global" };
    await client.patch(ManagedClusterSet, set, { spec: { managedNamespaces: [{ name: "given" }] } }, { type: "merge" });
    await client.create(ClusterTaintPolicy, HUB, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "ready" },
      spec: {
        taints: [{ key: "ready", effect: "NoSchedule" }],
        addOnConditions: [{ conditionType: "Ready", operator: "In", statusValues: ["True"] }],
        removeOnConditions: [],
      },
    });

    for (const name of [PUSHED, PULLED]) {
      await see(Namespace, { cluster: name, name: "given" }, (namespace) => namespace !== undefined);
      await see(ManagedCluster, { name }, (managed) =>
        (managed?.status?.managedNamespaces ?? []).some(({ conditions = [] }) => conditions.length > 0),
      );
      const cluster = await see(Cluster, { name }, (seen) => (seen?.spec.taints ?? []).length > 0);
      expect(cluster?.spec.taints).toMatchObject([{ key: "ready", effect: "NoSchedule" }]);
    }
  });

  test("autoscaling and quotas: a FederatedHPA limits a Deployment, and what it requests is counted", async () => {
    const { client } = hub;
    const limits: FederatedResourceQuota = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "FederatedResourceQuota",
      metadata: { name: "team", namespace: "shop" },
      spec: { overall: { cpu: "100" } },
    };
    await client.create(FederatedResourceQuota, HUB, limits);
    await client.create(FederatedHpa, HUB, {
      apiVersion: "autoscaling.karmada.io/v1alpha1",
      kind: "FederatedHPA",
      metadata: { name: "web", namespace: "shop" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
    });

    await see(Deployment, { namespace: "shop", name: "web" }, (deployment) => deployment?.spec.replicas === 3);
    await see(FederatedHpa, { namespace: "shop", name: "web" }, (seen) => seen?.status?.desiredReplicas === 3);
    const counted = await see(FederatedResourceQuota, { namespace: "shop", name: "team" }, (quota) =>
      Boolean(quota?.status?.overallUsed),
    );
    expect(counted?.status?.overall).toEqual({ cpu: "100" });
  });

  test("every group of controllers has written through its transport", () => {
    const silent = [...hasWritten].filter(([, wrote]) => !wrote).map(([part]) => part);

    expect(silent.toSorted()).toEqual(Object.keys(WITHOUT_WRITES).toSorted());
  });
});
