import { expect, test } from "vitest";
import { kubernetesKinds, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const account = (namespace: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "default", namespace },
});
const namespace = (name: string): KubernetesObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const start = (objects: KubernetesObject[] = [account("default")]): Promise<TestServer> =>
  createTestServer({
    admissions: kubernetesAdmissions,
    profiles: {
      hub: { builtIns: kubernetesKinds, customs: [], objects: [namespace("default"), namespace("shop"), ...objects] },
    },
  });

const pod = (spec: JsonObject = {}, name = "p"): JsonObject => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
const specOf = (body: JsonObject): JsonObject => body.spec as JsonObject;

test("a pod gets the default service account and its token mount, which have no field manager", async () => {
  const { request } = await start();

  const { body } = await request("POST", "/api/v1/namespaces/default/pods", pod());

  const [volume] = specOf(body).volumes as { name: string }[];
  expect(volume?.name).toMatch(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  expect(body).toMatchObject({
    spec: {
      serviceAccountName: "default",
      containers: [
        {
          volumeMounts: [
            { name: volume?.name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
          ],
        },
      ],
    },
  });
  expect(JSON.stringify((body.metadata as JsonObject).managedFields)).not.toMatch(
    /serviceAccount|tolerations|volumes|priority/,
  );
});

test("a pod with a missing service account is rejected", async () => {
  const { request } = await start();

  const { status, body } = await request("POST", "/api/v1/namespaces/shop/pods", pod());

  expect([status, body.message]).toEqual([
    403,
    'pods "p" is forbidden: error looking up service account shop/default: serviceaccount "default" not found',
  ]);
});

test("a cluster without a service account controller accepts pods", async () => {
  const { request } = await start([]);

  expect((await request("POST", "/api/v1/namespaces/shop/pods", pod())).status).toBe(201);
});

test("a pod that is a template for other clusters needs and gets no service account or token", async () => {
  const { request } = await createTestServer({
    admissions: kubernetesAdmissions,
    profiles: {
      hub: {
        podsAreTemplates: true,
        builtIns: kubernetesKinds,
        customs: [],
        objects: [namespace("shop"), account("default")],
      },
    },
  });

  const { status, body } = await request("POST", "/api/v1/namespaces/shop/pods", pod());

  expect(status).toBe(201);
  expect([specOf(body).serviceAccountName, specOf(body).volumes]).toEqual([undefined, undefined]);
});

test("a service account controls its token mount and image pull secrets", async () => {
  const { request } = await start();
  await request("POST", "/api/v1/namespaces/default/serviceaccounts", {
    metadata: { name: "sa" },
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: "ps" }],
  });

  const { body } = await request("POST", "/api/v1/namespaces/default/pods", pod({ serviceAccountName: "sa" }));

  expect(specOf(body).imagePullSecrets).toEqual([{ name: "ps" }]);
  expect(specOf(body).volumes).toBeUndefined();
});

test("a priority class sets the pod's priority, which cannot be chosen freely", async () => {
  const { request } = await start();
  await request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
    metadata: { name: "hi" },
    value: 1000,
    preemptionPolicy: "Never",
  });

  const high = await request("POST", "/api/v1/namespaces/default/pods", pod({ priorityClassName: "hi" }));
  const plain = await request("POST", "/api/v1/namespaces/default/pods", pod({}, "q"));
  const chosen = await request("POST", "/api/v1/namespaces/default/pods", pod({ priority: 5 }, "r"));
  const unknown = await request("POST", "/api/v1/namespaces/default/pods", pod({ priorityClassName: "none" }, "s"));

  expect(specOf(high.body)).toMatchObject({ priority: 1000, preemptionPolicy: "Never" });
  expect(specOf(plain.body)).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  expect(chosen.body.message).toBe(
    'pods "r" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority ' +
      "admission controller computed 0 from the given PriorityClass name",
  );
  expect(unknown.body.message).toBe('pods "s" is forbidden: no PriorityClass with name none was found');
});

test("a pod tolerates an unreachable node for five minutes, unless it specifies otherwise", async () => {
  const { request } = await start();

  const { body } = await request(
    "POST",
    "/api/v1/namespaces/default/pods",
    pod({
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
      ],
    }),
  );

  expect(
    (specOf(body).tolerations as JsonObject[]).map(({ key, tolerationSeconds }) => [key, tolerationSeconds]),
  ).toEqual([
    ["node.kubernetes.io/not-ready", 5],
    ["node.kubernetes.io/unreachable", 300],
  ]);
});

test("a runtime class sets overhead and scheduling of a pod", async () => {
  const { request } = await start();
  await request("POST", "/apis/node.k8s.io/v1/runtimeclasses", {
    metadata: { name: "r" },
    handler: "h",
    overhead: { podFixed: { cpu: "100m" } },
    scheduling: { nodeSelector: { x: "y" } },
  });

  const good = await request("POST", "/api/v1/namespaces/default/pods", pod({ runtimeClassName: "r" }));
  const elsewhere = await request(
    "POST",
    "/api/v1/namespaces/default/pods",
    pod({ runtimeClassName: "r", nodeSelector: { x: "z" } }, "q"),
  );
  const unknown = await request("POST", "/api/v1/namespaces/default/pods", pod({ runtimeClassName: "none" }, "s"));

  expect(specOf(good.body)).toMatchObject({ overhead: { cpu: "100m" }, nodeSelector: { x: "y" } });
  expect(elsewhere.body.message).toBe(
    'pods "q" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[x] = y; pod.spec.nodeSelector[x] = z',
  );
  expect(unknown.body.message).toBe('pods "s" is forbidden: pod rejected: RuntimeClass "none" not found');
});

test("a limit range sets container defaults and rejects excess", async () => {
  const { request } = await start();
  await request("POST", "/api/v1/namespaces/default/limitranges", {
    metadata: { name: "l" },
    spec: {
      limits: [{ type: "Container", default: { cpu: "500m" }, defaultRequest: { cpu: "100m" }, max: { cpu: "1" } }],
    },
  });

  const filled = await request("POST", "/api/v1/namespaces/default/pods", pod());
  const greedy = await request(
    "POST",
    "/api/v1/namespaces/default/pods",
    pod({ containers: [{ name: "c", image: "i", resources: { limits: { cpu: "2" } } }] }, "q"),
  );

  expect(specOf(filled.body).containers).toMatchObject([
    { resources: { limits: { cpu: "500m" }, requests: { cpu: "100m" } } },
  ]);
  expect((filled.body.metadata as JsonObject).annotations).toEqual({
    "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu limit for container c",
  });
  expect(filled.body).toMatchObject({ status: { qosClass: "Burstable" } });
  expect(greedy.body.message).toBe('pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2');
});

test("a new node is tainted until it is ready", async () => {
  const { request } = await start();

  const { body } = await request("POST", "/api/v1/nodes", { metadata: { name: "n" } });

  expect(specOf(body).taints).toEqual([{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]);
});

test("a binding assigns the node once, and the pod gets its topology labels", async () => {
  const { request } = await start();
  await request("POST", "/api/v1/nodes", { metadata: { name: "n", labels: { "topology.kubernetes.io/zone": "z" } } });
  await request("POST", "/api/v1/namespaces/default/pods", pod());
  const binding = { metadata: { name: "p" }, target: { kind: "Node", name: "n" } };

  const first = await request("POST", "/api/v1/namespaces/default/pods/p/binding", binding);
  const second = await request("POST", "/api/v1/namespaces/default/pods/p/binding", binding);
  const { body } = await request("GET", "/api/v1/namespaces/default/pods/p");

  expect([first.status, first.body.status]).toEqual([201, "Success"]);
  expect([second.status, second.body.message]).toEqual([
    409,
    'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
  ]);
  expect(body).toMatchObject({
    metadata: { generation: 1, labels: { "topology.kubernetes.io/zone": "z" } },
    spec: { nodeName: "n" },
    status: { conditions: [{ type: "PodScheduled", status: "True" }] },
  });
});

test("an eviction is allowed while the disruption budget permits it", async () => {
  const { request } = await start();
  await request("POST", "/api/v1/namespaces/default/pods", {
    ...pod({ nodeName: "n" }),
    metadata: { name: "p", labels: { a: "b" } },
  });
  await request(
    "PATCH",
    "/api/v1/namespaces/default/pods/p/status",
    { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
    { "content-type": "application/merge-patch+json" },
  );
  await request("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "b" },
    spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
  });
  const evict = (): Promise<{ status: number; body: JsonObject }> =>
    request("POST", "/api/v1/namespaces/default/pods/p/eviction", {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "p" },
    });
  const budget = (status: JsonObject): Promise<unknown> =>
    request(
      "PATCH",
      "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
      { status: { expectedPods: 1, observedGeneration: 1, desiredHealthy: 1, ...status } },
      { "content-type": "application/merge-patch+json" },
    );

  const unseen = await evict();
  await budget({ currentHealthy: 1, disruptionsAllowed: 0 });
  const full = await evict();
  await budget({ currentHealthy: 2, disruptionsAllowed: 1 });
  const granted = await evict();

  expect([unseen.status, unseen.body.details]).toEqual([
    429,
    {
      causes: [
        { reason: "DisruptionBudget", message: "The disruption budget b is still being processed by the server." },
      ],
      retryAfterSeconds: 10,
    },
  ]);
  expect([full.status, full.body.details]).toEqual([
    429,
    {
      causes: [
        { reason: "DisruptionBudget", message: "The disruption budget b needs 1 healthy pods and has 1 currently" },
      ],
    },
  ]);
  expect(granted.status).toBe(201);
  const { body } = await request("GET", "/api/v1/namespaces/default/pods/p");
  expect(body).toMatchObject({
    metadata: { deletionGracePeriodSeconds: 30 },
    status: {
      conditions: [{ type: "Ready" }, { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }],
    },
  });
});
