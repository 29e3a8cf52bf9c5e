/** What the built-in admission plugins add and reject, and the pods/binding and pods/eviction subresources. */
import { expect, test } from "vitest";
import { makePod, pods } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Body } from "../../programs/raw-client.ts";

interface PodSpec {
  containers: { resources: object; volumeMounts?: { mountPath: string }[] }[];
  serviceAccountName: string;
  volumes?: { name: string; projected: { sources: object[] } }[];
  tolerations: { key: string; tolerationSeconds?: number }[];
  priority: number;
  nodeName?: string;
}

contract("admission", (subject) => {
  const furnished = async (name: string): Promise<string> => {
    await subject.api.create("/api/v1/namespaces", { metadata: { name } });
    await eventually(
      "its service account",
      () => subject.api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`),
      ({ status }) => status === 200,
    );
    return `/api/v1/namespaces/${name}`;
  };
  const create = async (path: string, object: object): Promise<Body> => {
    const { status, body, text } = await subject.api.create(path, object);
    expect(status, text).toBe(201);
    return body;
  };

  test("a pod gets its service account, a token, tolerations and a priority", async () => {
    const spec = (await create(pods(NAMESPACE), makePod("completed"))).spec as PodSpec;
    const opted = (await create(pods(NAMESPACE), makePod("without-token", {}, { automountServiceAccountToken: false })))
      .spec as PodSpec;

    expect(spec).toMatchObject({
      serviceAccountName: "default",
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      enableServiceLinks: true,
    });
    expect(spec.volumes?.[0]).toMatchObject({
      name: expect.stringMatching(/^kube-api-access-/),
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt" } },
          { downwardAPI: {} },
        ],
      },
    });
    expect(spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual([
      "/var/run/secrets/kubernetes.io/serviceaccount",
    ]);
    expect(spec.tolerations).toMatchObject([
      { key: "node.kubernetes.io/not-ready", tolerationSeconds: 300 },
      { key: "node.kubernetes.io/unreachable", tolerationSeconds: 300 },
    ]);
    expect(opted.volumes ?? []).toEqual([]);
  });

  test("a pod with a missing service account, priority class or runtime class is rejected", async () => {
    const account = await subject.api.create(pods(NAMESPACE), makePod("a", {}, { serviceAccountName: "missing" }));
    const priority = await subject.api.create(pods(NAMESPACE), makePod("a", {}, { priorityClassName: "nothing" }));
    const runtime = await subject.api.create(pods(NAMESPACE), makePod("a", {}, { runtimeClassName: "nothing" }));

    expect([account.status, account.body.message]).toEqual([
      403,
      'pods "a" is forbidden: error looking up service account contract/missing: serviceaccount "missing" not found',
    ]);
    expect([priority.status, priority.body.message]).toEqual([
      403,
      'pods "a" is forbidden: no PriorityClass with name nothing was found',
    ]);
    expect([runtime.status, runtime.body.message]).toEqual([
      403,
      'pods "a" is forbidden: pod rejected: RuntimeClass "nothing" not found',
    ]);
  });

  test("a priority class sets the priority of its pods", async () => {
    await create("/apis/scheduling.k8s.io/v1/priorityclasses", {
      metadata: { name: "urgent" },
      value: 1000,
      preemptionPolicy: "Never",
    });

    const { spec } = await eventually(
      "the pod",
      async () =>
        (
          await subject.api.create(
            `${pods(NAMESPACE)}?dryRun=All`,
            makePod("urgent", {}, { priorityClassName: "urgent" }),
          )
        ).body,
      ({ kind }) => kind === "Pod",
    );

    expect(spec).toMatchObject({ priority: 1000, preemptionPolicy: "Never" });
  });

  test("a limit range defaults and bounds the resources of pods", async () => {
    const path = await furnished("bounded");
    await create(`${path}/limitranges`, {
      metadata: { name: "bounds" },
      spec: {
        limits: [{ type: "Container", default: { cpu: "200m" }, defaultRequest: { cpu: "100m" }, max: { cpu: "1" } }],
      },
    });

    const filled = await eventually(
      "the limits",
      async () => (await subject.api.create(`${path}/pods?dryRun=All`, makePod("filled"))).body.spec as PodSpec,
      ({ containers }) => JSON.stringify(containers).includes("200m"),
    );
    const refused = await subject.api.create(
      `${path}/pods`,
      makePod("greedy", {}, { containers: [{ name: "main", image: "a", resources: { limits: { cpu: "2" } } }] }),
    );

    expect(filled.containers[0]?.resources).toEqual({ limits: { cpu: "200m" }, requests: { cpu: "100m" } });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'pods "greedy" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
    ]);
  });

  test("a quota counts existing objects and rejects an excess", async () => {
    const path = await furnished("limited");
    await create(`${path}/resourcequotas`, {
      metadata: { name: "few" },
      spec: { hard: { "count/secrets": "2", pods: "1" } },
    });
    await eventually(
      "the quota is counted",
      () => subject.api.get(`${path}/resourcequotas/few`),
      ({ body }) => (body.status as { hard?: object }).hard !== undefined,
    );
    await create(`${path}/secrets`, { metadata: { name: "a" } });
    await create(`${path}/secrets`, { metadata: { name: "b" } });

    const refused = await subject.api.create(`${path}/secrets`, { metadata: { name: "c" } });

    expect([refused.status, refused.body.message]).toEqual([
      403,
      'secrets "c" is forbidden: exceeded quota: few, requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2',
    ]);
    const { body } = await eventually(
      "the count",
      () => subject.api.get(`${path}/resourcequotas/few`),
      ({ body: quota }) => (quota.status as { used: Record<string, string> }).used["count/secrets"] === "2",
    );
    expect(body.status).toEqual({
      hard: { "count/secrets": "2", pods: "1" },
      used: { "count/secrets": "2", pods: "0" },
    });
  });

  test("a claim without a storage class gets the default one", async () => {
    await create("/apis/storage.k8s.io/v1/storageclasses", {
      metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "example.com/disk",
    });
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };

    const { spec } = await eventually(
      "the class",
      async () =>
        (await subject.api.create(`/api/v1/namespaces/${NAMESPACE}/persistentvolumeclaims?dryRun=All`, claim)).body,
      (body) => (body.spec as { storageClassName?: string }).storageClassName !== undefined,
    );

    expect(spec).toMatchObject({ storageClassName: "fast", volumeMode: "Filesystem" });
  });

  test("a pod is bound to a node only once", async () => {
    await create(pods(NAMESPACE), makePod("bound"));
    const bind = (node: string) =>
      subject.api.create(`${pods(NAMESPACE)}/bound/binding`, {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "bound" },
        target: { kind: "Node", name: node },
      });

    const first = await bind("n1");
    const second = await bind("n2");
    const { body } = await subject.api.get(`${pods(NAMESPACE)}/bound`);

    expect([first.status, second.status]).toEqual([201, 409]);
    expect(body.spec).toMatchObject({ nodeName: "n1" });
    expect(body.status).toMatchObject({ conditions: [{ type: "PodScheduled", status: "True" }] });
  });

  test("an eviction deletes a pod, and a disruption budget can forbid it", async () => {
    await create(pods(NAMESPACE), makePod("free"));
    await create(pods(NAMESPACE), makePod("needed", { labels: { app: "needed" } }));
    await create(`/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`, {
      metadata: { name: "needed" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "needed" } } },
    });
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await subject.api.patch("strategic", `${pods(NAMESPACE)}/needed/status`, { status });
    const evict = (name: string) =>
      subject.api.create(`${pods(NAMESPACE)}/${name}/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
      });

    const free = await evict("free");
    const needed = await evict("needed");

    expect([free.status, (await subject.api.get(`${pods(NAMESPACE)}/free`)).status]).toEqual([201, 404]);
    expect([needed.status, needed.body.reason]).toEqual([429, "TooManyRequests"]);
    expect(needed.body.details?.causes?.[0]?.reason).toBe("DisruptionBudget");
  });
});
