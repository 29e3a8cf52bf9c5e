/**
 * `@kubernetes/client-node`, the most common JavaScript client. With `$REAL_BIN` also against the real kube-apiserver.
 */
import { beforeAll, expect, test } from "vitest";
import type * as Kubernetes from "@kubernetes/client-node";
import { NAMESPACE, contract, eventually } from "../programs/api-servers.ts";

contract("client-node", (subject) => {
  let k8s: typeof Kubernetes;
  let config: Kubernetes.KubeConfig;
  let core: Kubernetes.CoreV1Api;
  beforeAll(async () => {
    // It takes half a second to load, which other test files should not pay for.
    k8s = await import("@kubernetes/client-node");
    config = new k8s.KubeConfig();
    config.loadFromFile(subject.kubeconfig);
    core = config.makeApiClient(k8s.CoreV1Api);
  });
  const configMap = (name: string, labels: Record<string, string> = {}): Kubernetes.V1ConfigMap => ({
    metadata: { name, labels },
    data: { a: "1" },
  });
  const namespace = NAMESPACE;

  test("objects are created, read, replaced and deleted", async () => {
    const created = await core.createNamespacedConfigMap({ namespace, body: configMap("typed") });
    const replaced = await core.replaceNamespacedConfigMap({
      name: "typed",
      namespace,
      body: Object.assign(created, { data: { a: "2" } }),
    });
    const read = await core.readNamespacedConfigMap({ name: "typed", namespace });
    await core.deleteNamespacedConfigMap({ name: "typed", namespace });

    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(replaced.metadata?.uid).toBe(created.metadata?.uid);
    expect(read.data).toEqual({ a: "2" });
    await expect(core.readNamespacedConfigMap({ name: "typed", namespace })).rejects.toMatchObject({
      code: 404,
      body: expect.stringContaining('configmaps \\"typed\\" not found'),
    });
  });

  test("all four patch types work", async () => {
    const apps = config.makeApiClient(k8s.AppsV1Api);
    const labels = { app: "patched" };
    await apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: "patched" },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: "main", image: "registry.example.com/app:1" }] },
          },
        },
      },
    });
    const patch = (type: string, body: object, options: object = {}): Promise<Kubernetes.V1Deployment> =>
      apps.patchNamespacedDeployment(
        { name: "patched", namespace, body, ...options },
        k8s.setHeaderOptions("Content-Type", type),
      );

    const json = await patch(k8s.PatchStrategy.JsonPatch, [{ op: "replace", path: "/spec/replicas", value: 2 }]);
    const merge = await patch(k8s.PatchStrategy.MergePatch, { metadata: { labels: { a: "b" } } });
    const strategic = await patch(k8s.PatchStrategy.StrategicMergePatch, {
      spec: { template: { spec: { containers: [{ name: "side", image: "registry.example.com/side:1" }] } } },
    });
    const applied = await patch(
      k8s.PatchStrategy.ServerSideApply,
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "patched" }, spec: { replicas: 5 } },
      { fieldManager: "client-node", force: true },
    );

    expect(json.spec?.replicas).toBe(2);
    expect(merge.metadata?.labels).toEqual({ a: "b" });
    expect(strategic.spec?.template.spec?.containers.map(({ name }) => name).toSorted()).toEqual(["main", "side"]);
    expect([
      applied.spec?.replicas,
      applied.metadata?.managedFields?.some(
        ({ manager, operation }) => manager === "client-node" && operation === "Apply",
      ),
    ]).toEqual([5, true]);
  });

  test("the Node client reads lists in pages", async () => {
    for (let index = 0; index < 5; index++)
      await core.createNamespacedConfigMap({ namespace, body: configMap(`page-${index}`, { paged: "yes" }) });

    const names: (string | undefined)[] = [];
    let _continue: string | undefined;
    do {
      const page = await core.listNamespacedConfigMap({ namespace, labelSelector: "paged=yes", limit: 2, _continue });
      names.push(...page.items.map(({ metadata }) => metadata?.name));
      _continue = page.metadata?._continue;
    } while (_continue);

    expect(names).toEqual(["page-0", "page-1", "page-2", "page-3", "page-4"]);
  });

  test("a watch emits changes until it is aborted", async () => {
    const seen: string[] = [];
    const ended = Promise.withResolvers<unknown>();
    const controller = await new k8s.Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { labelSelector: "watched=yes" },
      (phase: string, object: Kubernetes.V1ConfigMap) => seen.push(`${phase} ${object.metadata?.name}`),
      (error: unknown) => ended.resolve(error),
    );
    await core.createNamespacedConfigMap({ namespace, body: configMap("watched", { watched: "yes" }) });
    await core.deleteNamespacedConfigMap({ name: "watched", namespace });

    await eventually(
      "both events",
      () => Promise.resolve(seen),
      (events) => events.length === 2,
    );
    controller.abort();
    await ended.promise;

    expect(seen).toEqual(["ADDED watched", "DELETED watched"]);
  });

  test("an informer lists existing objects and follows changes", async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap("before", { informed: "yes" }) });
    const seen: string[] = [];
    const informer = k8s.makeInformer(
      config,
      `/api/v1/namespaces/${namespace}/configmaps`,
      () => core.listNamespacedConfigMap({ namespace, labelSelector: "informed=yes" }),
      "informed=yes",
    );
    for (const verb of ["add", "update", "delete"] as const)
      informer.on(verb, ({ metadata }) => seen.push(`${verb} ${metadata?.name}`));
    const connected = Promise.withResolvers<void>();
    informer.on("connect", () => connected.resolve());
    await informer.start();
    await connected.promise;

    await core.createNamespacedConfigMap({ namespace, body: configMap("after", { informed: "yes" }) });
    await core.patchNamespacedConfigMap(
      { name: "before", namespace, body: { data: { a: "2" } } },
      k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch),
    );
    await core.deleteNamespacedConfigMap({ name: "before", namespace });
    await eventually(
      "all events",
      () => Promise.resolve(seen),
      (events) => events.length >= 4,
    );
    await informer.stop();

    expect(seen).toEqual(["add before", "add after", "update before", "delete before"]);
  });

  test("custom resources and CRDs are used without types", async () => {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config);
    await objects.create({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "toys.node.example.com" },
      spec: {
        group: "node.example.com",
        scope: "Namespaced",
        names: { plural: "toys", singular: "toy", kind: "Toy" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
              },
            },
          },
        ],
      },
    } as Kubernetes.KubernetesObject);
    const custom = config.makeApiClient(k8s.CustomObjectsApi);
    const toys = { group: "node.example.com", version: "v1", namespace, plural: "toys" };
    await eventually(
      "the kind is served",
      async () => (await subject.api.get(`/apis/node.example.com/v1/namespaces/${namespace}/toys`)).status,
      (status) => status === 200,
    );

    await custom.createNamespacedCustomObject({
      ...toys,
      body: { apiVersion: "node.example.com/v1", kind: "Toy", metadata: { name: "ball" }, spec: { size: 3 } },
    });
    const read = (await custom.getNamespacedCustomObject({ ...toys, name: "ball" })) as { spec: object };
    const listed = (await custom.listNamespacedCustomObject(toys)) as { items: unknown[] };

    expect(read.spec).toEqual({ size: 3 });
    expect(listed.items).toHaveLength(1);
  });

  test("tokens are requested and access is reviewed", async () => {
    const token = await core.createNamespacedServiceAccountToken({
      name: "default",
      namespace,
      body: { spec: { audiences: [], expirationSeconds: 600 } },
    });
    const review = await config.makeApiClient(k8s.AuthorizationV1Api).createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes: { verb: "get", resource: "pods", namespace } } },
    });

    expect(token.status?.token?.split(".")).toHaveLength(3);
    expect(review.status?.allowed).toBe(true);
  });
});
