/** Create and update: metadata, validation, defaults and subresources. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makeDeployment, makePod, pods } from "./objects.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";
import type { Body } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const SERVICES = `/api/v1/namespaces/${NAMESPACE}/services`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;

contract("writes", (subject) => {
  const create = async (path: string, object: object): Promise<Body> => {
    const { status, body, text } = await subject.api.create(path, object);
    expect(status, text).toBe(201);
    return body;
  };

  test("the server sets uid, creationTimestamp and resourceVersion, whatever the client sent", async () => {
    const { metadata } = await create(
      CONFIG_MAPS,
      makeConfigMap(
        "stamped",
        {},
        {
          uid: "11111111-1111-1111-1111-111111111111",
          creationTimestamp: "2001-01-01T00:00:00Z",
          deletionTimestamp: "2001-01-01T00:00:00Z",
          selfLink: "/mine",
        },
      ),
    );

    expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(metadata.creationTimestamp).toMatch(/^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(metadata).not.toHaveProperty("deletionTimestamp");
    expect(metadata).not.toHaveProperty("selfLink");
  });

  test("a resourceVersion in the body of a create is rejected, except 0", async () => {
    const set = await subject.api.create(CONFIG_MAPS, makeConfigMap("versioned", {}, { resourceVersion: "5" }));
    const zero = await subject.api.create(CONFIG_MAPS, makeConfigMap("versioned", {}, { resourceVersion: "0" }));

    expect([set.status, set.body.message]).toEqual([500, "resourceVersion should not be set on objects to be created"]);
    expect(zero.status).toBe(201);
  });

  const mismatches: Record<string, [object: object, message: RegExp]> = {
    "another kind": [
      { ...makeConfigMap("x"), kind: "Secret" },
      /Secret in version "v1" cannot be handled as a ConfigMap/,
    ],
    "another version": [{ ...makeConfigMap("x"), apiVersion: "apps/v1" }, /.+/],
    "another namespace": [
      makeConfigMap("x", {}, { namespace: "elsewhere" }),
      /the namespace of the provided object does not match the namespace sent on the request/,
    ],
  };
  for (const [what, [object, message]] of Object.entries(mismatches)) {
    test(`a body of ${what} is rejected with 400`, async () => {
      const { status, body } = await subject.api.create(CONFIG_MAPS, object);

      expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
    });
  }

  test("a body with another name is rejected with 400, and one without kind is completed", async () => {
    const created = await subject.api.create(CONFIG_MAPS, { metadata: { name: "named" } });

    const renamed = await subject.api.replace(`${CONFIG_MAPS}/named`, makeConfigMap("other"));

    expect(created.body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { namespace: NAMESPACE } });
    expect([renamed.status, renamed.body.message]).toEqual([
      400,
      "the name of the object (other) does not match the name on the URL (named)",
    ]);
  });

  test("generateName is completed with five characters that cannot form words", async () => {
    const short = await create(CONFIG_MAPS, { metadata: { generateName: "job-" } });
    const long = await create(CONFIG_MAPS, { metadata: { generateName: "a".repeat(80) } });
    const neither = await subject.api.create(CONFIG_MAPS, { metadata: {} });

    expect(short.metadata.name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(long.metadata.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect([neither.status, neither.body.details?.causes?.[0]?.message]).toEqual([
      422,
      "Required value: name or generateName is required",
    ]);
  });

  const invalidMetadata: Record<string, [metadata: object, field: string]> = {
    "a name with capitals": [{ name: "Capital" }, "metadata.name"],
    "a label value with a slash": [{ name: "x", labels: { a: "b/c" } }, "metadata.labels"],
    "a label key with a space": [{ name: "x", labels: { "a b": "c" } }, "metadata.labels"],
    "an annotation key with a space": [{ name: "x", annotations: { "a b": "c" } }, "metadata.annotations"],
    "an owner reference without a uid": [
      { name: "x", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] },
      "metadata.ownerReferences.uid",
    ],
    "two controller owner references": [
      {
        name: "x",
        ownerReferences: ["a", "b"].map((uid) => ({ apiVersion: "v1", kind: "Pod", name: uid, uid, controller: true })),
      },
      "metadata.ownerReferences",
    ],
    "a finalizer without a domain": [{ name: "x", finalizers: ["mine"] }, "metadata.finalizers[0]"],
  };
  for (const [what, [metadata, field]] of Object.entries(invalidMetadata)) {
    test(`${what} is invalid`, async () => {
      const { status, body } = await subject.api.create(CONFIG_MAPS, { metadata });

      expect(status).toBe(422);
      expect(body.details?.causes?.map((cause) => cause.field)).toContain(field);
    });
  }

  test("namespaces and services have DNS label names, roles almost any", async () => {
    expect((await subject.api.create("/api/v1/namespaces", { metadata: { name: "a.b" } })).status).toBe(422);
    expect(
      (await subject.api.create(SERVICES, { metadata: { name: "a.b" }, spec: { ports: [{ port: 80 }] } })).status,
    ).toBe(422);
    expect(
      (
        await subject.api.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`, {
          metadata: { name: "Role:with:colons" },
        })
      ).status,
    ).toBe(201);
    expect(
      (
        await subject.api.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`, {
          metadata: { name: "a/b" },
        })
      ).status,
    ).toBe(422);
  });

  test("an update with a stale resourceVersion conflicts; one without is unconditional", async () => {
    const first = await create(CONFIG_MAPS, makeConfigMap("contested", { a: "1" }));
    await subject.api.replace(`${CONFIG_MAPS}/contested`, { ...first, data: { a: "2" } });

    const stale = await subject.api.replace(`${CONFIG_MAPS}/contested`, { ...first, data: { a: "3" } });
    const stalePatch = await subject.api.patch("merge", `${CONFIG_MAPS}/contested`, {
      metadata: { resourceVersion: first.metadata.resourceVersion },
      data: { a: "3" },
    });
    const unconditional = await subject.api.replace(`${CONFIG_MAPS}/contested`, makeConfigMap("contested", { a: "4" }));

    expect([stale.status, stale.body.reason]).toEqual([409, "Conflict"]);
    expect([stalePatch.status, stalePatch.body.reason]).toEqual([409, "Conflict"]);
    expect([unconditional.status, unconditional.body["data"]]).toEqual([200, { a: "4" }]);
  });

  const conditional: Record<string, [path: string, object: object]> = {
    Lease: [LEASES, { metadata: { name: "conditional" } }],
    RuntimeClass: ["/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "conditional" }, handler: "runc" }],
    PodDisruptionBudget: [
      `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`,
      { metadata: { name: "conditional" }, spec: { minAvailable: 1 } },
    ],
  };
  for (const [kind, [path, object]] of Object.entries(conditional)) {
    test(`an update of a ${kind} requires a resourceVersion`, async () => {
      const { metadata, ...rest } = await create(path, object);

      const { status, body } = await subject.api.replace(`${path}/conditional`, {
        ...rest,
        metadata: { ...metadata, resourceVersion: undefined },
      });

      expect(status).toBe(422);
      expect(body.message).toContain("metadata.resourceVersion: Invalid value: 0: must be specified for an update");
    });
  }

  test("a PUT of a missing object returns 404, except for kinds with create on update", async () => {
    expect((await subject.api.replace(`${CONFIG_MAPS}/missing`, makeConfigMap("missing"))).status).toBe(404);
    expect((await subject.api.replace(`${LEASES}/by-put`, { metadata: { name: "by-put" } })).status).toBe(201);
    expect(
      (
        await subject.api.replace(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles/by-put`, {
          metadata: { name: "by-put" },
        })
      ).status,
    ).toBe(201);
  });

  test("another uid conflicts in a PUT and is invalid in a patch; timestamps and generation cannot be set", async () => {
    const { metadata } = await create(CONFIG_MAPS, makeConfigMap("fixed"));
    const path = `${CONFIG_MAPS}/fixed`;

    const put = await subject.api.replace(
      path,
      makeConfigMap("fixed", {}, { uid: "11111111-1111-1111-1111-111111111111" }),
    );
    const patch = await subject.api.patch("merge", path, { metadata: { uid: "11111111-1111-1111-1111-111111111111" } });
    const deleting = await subject.api.patch("merge", path, {
      metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" },
    });
    const times = await subject.api.patch("merge", path, {
      metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, selfLink: "/mine" },
    });

    expect([put.status, put.body.message]).toEqual([
      409,
      expect.stringContaining("Precondition failed: UID in precondition: 11111111-1111-1111-1111-111111111111"),
    ]);
    expect([patch.status, patch.body.message]).toEqual([422, expect.stringContaining("metadata.uid: Invalid value")]);
    expect([deleting.status, deleting.body.message]).toEqual([
      422,
      expect.stringContaining("metadata.deletionTimestamp: Invalid value"),
    ]);
    expect(times.status).toBe(200);
    expect(times.body.metadata).toMatchObject({
      creationTimestamp: metadata.creationTimestamp,
      resourceVersion: metadata.resourceVersion,
    });
  });

  test("an update without a change writes nothing and emits no watch event", async () => {
    const created = await create(CONFIG_MAPS, makeConfigMap("same", { a: "1" }));
    const watch = await subject.api.watch(
      `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=same&resourceVersion=${created.metadata.resourceVersion}`,
    );

    const replaced = await subject.api.replace(`${CONFIG_MAPS}/same`, created);
    const patched = await subject.api.patch("merge", `${CONFIG_MAPS}/same`, { data: { a: "1" } });
    const changed = await subject.api.patch("merge", `${CONFIG_MAPS}/same`, { data: { a: "2" } });

    expect([replaced, patched].map(({ status, body }) => [status, body.metadata.resourceVersion])).toEqual(
      [0, 1].map(() => [200, created.metadata.resourceVersion]),
    );
    expect((await watch.next()).object.metadata.resourceVersion).toBe(changed.body.metadata.resourceVersion);
    watch.close();
  });

  test("the generation only counts spec changes, and kinds without a spec have none", async () => {
    const path = `${DEPLOYMENTS}/generations`;
    const created = await create(DEPLOYMENTS, makeDeployment("generations"));
    const labelled = (await subject.api.patch("merge", path, { metadata: { labels: { a: "b" } } })).body;
    const status = (await subject.api.patch("merge", `${path}/status`, { status: { observedGeneration: 1 } })).body;
    const scaled = (await subject.api.patch("merge", path, { spec: { replicas: 3 } })).body;

    expect([created, labelled, status, scaled].map(({ metadata }) => metadata.generation)).toEqual([1, 1, 1, 2]);
    expect((await create(CONFIG_MAPS, makeConfigMap("ungenerated"))).metadata).not.toHaveProperty("generation");
  });

  test("the main endpoint keeps the status, and the status subresource keeps everything else", async () => {
    const path = `${DEPLOYMENTS}/halves`;
    const created = await create(DEPLOYMENTS, { ...makeDeployment("halves"), status: { replicas: 9 } });
    const main = (await subject.api.patch("merge", path, { spec: { replicas: 2 }, status: { replicas: 9 } })).body;
    const half = (
      await subject.api.patch("merge", `${path}/status`, { spec: { replicas: 5 }, status: { replicas: 4 } })
    ).body;

    expect(created.status).toEqual({});
    expect([main.spec, main.status]).toMatchObject([{ replicas: 2 }, {}]);
    expect(main.status).not.toHaveProperty("replicas");
    expect([half.spec, half.status]).toMatchObject([{ replicas: 2 }, { replicas: 4 }]);
    expect((await subject.api.get(`${path}/status`)).body).toMatchObject({
      kind: "Deployment",
      status: { replicas: 4 },
    });
  });

  test("scale reads and writes the replicas of its parent", async () => {
    const path = `${DEPLOYMENTS}/scaled`;
    await create(DEPLOYMENTS, makeDeployment("scaled", { replicas: 2 }));

    const before = (await subject.api.get(`${path}/scale`)).body;
    const put = (await subject.api.replace(`${path}/scale`, { ...before, spec: { replicas: 5 } })).body;
    const patched = (await subject.api.patch("merge", `${path}/scale`, { spec: { replicas: 0 } })).body;
    const after = (await subject.api.get(path)).body;

    expect(before).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name: "scaled", namespace: NAMESPACE },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: "app=scaled" },
    });
    expect(put.spec).toEqual({ replicas: 5 });
    expect(patched.spec ?? {}).toEqual({});
    expect(after.spec).toMatchObject({ replicas: 0 });
    expect(after.metadata.resourceVersion).toBe(patched.metadata.resourceVersion);
  });

  test("a dry-run create returns the same result as a real one, and stores nothing", async () => {
    const created = await subject.api.create(`${DEPLOYMENTS}?dryRun=All`, makeDeployment("rehearsed"));
    const invalid = await subject.api.create(
      `${DEPLOYMENTS}?dryRun=All`,
      makeDeployment("rehearsed", { replicas: -1 }),
    );
    const unknown = await subject.api.create(`${DEPLOYMENTS}?dryRun=Some`, makeDeployment("rehearsed"));

    expect([created.status, created.body.spec]).toMatchObject([201, { replicas: 1 }]);
    expect(created.body.metadata).not.toHaveProperty("resourceVersion");
    expect(created.body.metadata.uid).toBeTruthy();
    expect(invalid.status).toBe(422);
    expect(unknown.status).toBe(422);
    expect((await subject.api.get(`${DEPLOYMENTS}/rehearsed`)).status).toBe(404);
  });

  test("updates, patches and deletions support dry run", async () => {
    const created = await create(CONFIG_MAPS, makeConfigMap("kept", { a: "1" }));
    const path = `${CONFIG_MAPS}/kept?dryRun=All`;

    expect((await subject.api.replace(path, makeConfigMap("kept", { a: "2" }))).body["data"]).toEqual({ a: "2" });
    expect((await subject.api.patch("merge", path, { data: { a: "3" } })).body["data"]).toEqual({ a: "3" });
    expect((await subject.api.delete(path)).status).toBe(200);
    expect((await subject.api.get(`${CONFIG_MAPS}/kept`)).body.metadata.resourceVersion).toBe(
      created.metadata.resourceVersion,
    );
  });

  test("the field manager of a write is fieldManager, or the first part of the user agent", async () => {
    await create(`${CONFIG_MAPS}?fieldManager=painter`, makeConfigMap("managed-a", { a: "1" }));
    await subject.api.create(CONFIG_MAPS, makeConfigMap("managed-b", { a: "1" }), {
      "user-agent": "brush/2.1 (linux)",
    });
    const manager = async (name: string): Promise<string | undefined> =>
      (await subject.api.get(`${CONFIG_MAPS}/${name}`)).body.metadata.managedFields?.[0]?.manager;

    expect(await manager("managed-a")).toBe("painter");
    expect(await manager("managed-b")).toBe("brush");
    expect(
      (await subject.api.create(`${CONFIG_MAPS}?fieldManager=${"x".repeat(129)}`, makeConfigMap("managed-c"))).status,
    ).toBe(422);
  });

  const misspelt =
    `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"misspelt","labels":{"a":"1","a":"2"}},` +
    `"spec":{"replica":2,"replicas":1,"replicas":3,"selector":{"matchLabels":{"app":"m"}},"template":{"metadata":` +
    `{"labels":{"app":"m"}},"spec":{"containers":[{"name":"c","image":"i","imagePullPolice":"Always"}]}}}}`;
  const complaints = [
    'duplicate field "metadata.labels.a"',
    'unknown field "spec.replica"',
    'duplicate field "spec.replicas"',
    'unknown field "spec.template.spec.containers[0].imagePullPolice"',
  ];

  test("strict field validation rejects unknown and duplicate fields", async () => {
    const { status, body } = await subject.api.create(`${DEPLOYMENTS}?fieldValidation=Strict`, misspelt);

    expect([status, body.reason]).toEqual([400, "BadRequest"]);
    for (const complaint of complaints) expect(body.message).toContain(complaint);
    expect(body.message).toContain("strict decoding error: ");
  });

  test("by default unknown fields are dropped with a warning, and with Ignore without one", async () => {
    const warned = await subject.api.create(`${DEPLOYMENTS}?dryRun=All`, misspelt);
    const ignored = await subject.api.create(`${DEPLOYMENTS}?dryRun=All&fieldValidation=Ignore`, misspelt);
    const unknown = await subject.api.create(`${DEPLOYMENTS}?dryRun=All&fieldValidation=Maybe`, misspelt);

    expect([warned.status, warned.warnings.toSorted()]).toEqual([201, complaints.toSorted()]);
    expect(warned.body.spec).toMatchObject({ replicas: 3 });
    expect(warned.body.spec).not.toHaveProperty("replica");
    expect([ignored.status, ignored.warnings]).toEqual([201, []]);
    expect(unknown.status).toBe(422);
  });

  test("a Deployment gets the defaults of Kubernetes", async () => {
    const { spec } = await create(DEPLOYMENTS, makeDeployment("defaults"));

    expect(spec).toEqual({
      replicas: 1,
      selector: { matchLabels: { app: "defaults" } },
      template: {
        metadata: { labels: { app: "defaults" } },
        spec: {
          containers: [
            {
              name: "main",
              image: "registry.example.com/app:1",
              resources: {},
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              imagePullPolicy: "IfNotPresent",
            },
          ],
          restartPolicy: "Always",
          terminationGracePeriodSeconds: 30,
          dnsPolicy: "ClusterFirst",
          securityContext: {},
          schedulerName: "default-scheduler",
        },
      },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  test("a CronJob and a RoleBinding get the defaults of Kubernetes", async () => {
    const cron = await create(`/apis/batch/v1/namespaces/${NAMESPACE}/cronjobs`, {
      metadata: { name: "nightly" },
      spec: {
        schedule: "0 3 * * *",
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] } } },
        },
      },
    });
    const binding = await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name: "bound" },
      roleRef: { kind: "ClusterRole", name: "view", apiGroup: "rbac.authorization.k8s.io" },
      subjects: [
        { kind: "User", name: "ann" },
        { kind: "ServiceAccount", name: "default", namespace: "default" },
      ],
    });

    expect(cron.spec).toMatchObject({
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect(binding["subjects"]).toEqual([
      { kind: "User", name: "ann", apiGroup: "rbac.authorization.k8s.io" },
      { kind: "ServiceAccount", name: "default", namespace: "default" },
    ]);
  });

  test("changes of immutable fields are rejected with 422", async () => {
    await create(DEPLOYMENTS, makeDeployment("settled"));
    await create(CONFIG_MAPS, { metadata: { name: "settled" }, immutable: true, data: { a: "1" } });
    await create(SECRETS, { metadata: { name: "settled" }, type: "Opaque" });

    const selector = await subject.api.patch("merge", `${DEPLOYMENTS}/settled`, {
      spec: { selector: { matchLabels: { app: "other" } }, template: { metadata: { labels: { app: "other" } } } },
    });
    const data = await subject.api.patch("merge", `${CONFIG_MAPS}/settled`, { data: { a: "2" } });
    const type = await subject.api.patch("merge", `${SECRETS}/settled`, { type: "example.com/other" });

    expect([selector.status, selector.body.details?.causes?.[0]?.field]).toEqual([422, "spec.selector"]);
    expect([data.status, data.body.message]).toEqual([
      422,
      'ConfigMap "settled" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    ]);
    expect([type.status, type.body.details?.causes?.[0]?.field]).toEqual([422, "type"]);
  });

  const invalid: Record<string, [path: string, object: object, cause: string]> = {
    "an invalid quantity": [
      pods(NAMESPACE),
      makePod("x", {}, { containers: [{ name: "a", image: "b", resources: { limits: { cpu: "much" } } }] }),
      "quantities must match the regular expression",
    ],
    "a port out of range": [
      SERVICES,
      { metadata: { name: "x" }, spec: { ports: [{ port: 70_000 }] } },
      "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ],
    "two containers with the same name": [
      pods(NAMESPACE),
      makePod("x", {}, { containers: ["a", "a"].map((name) => ({ name, image: "b" })) }),
      'spec.containers[1].name: Duplicate value: "a"',
    ],
    "an unknown restart policy": [
      pods(NAMESPACE),
      makePod("x", {}, { restartPolicy: "Perhaps" }),
      'spec.restartPolicy: Unsupported value: "Perhaps"',
    ],
    "a role rule without verbs": [
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`,
      { metadata: { name: "x" }, rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] },
      "rules[0].verbs: Required value: verbs must contain at least one value",
    ],
    "an invalid schedule": [
      `/apis/batch/v1/namespaces/${NAMESPACE}/cronjobs`,
      {
        metadata: { name: "x" },
        spec: {
          schedule: "often",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] } } },
          },
        },
      },
      "spec.schedule: Invalid value",
    ],
  };
  for (const [what, [path, object, cause]] of Object.entries(invalid)) {
    test(`${what} is rejected`, async () => {
      const { status, body } = await subject.api.create(path, object);

      expect([400, 422]).toContain(status);
      expect(body.message).toContain(cause);
    });
  }

  test("services get IPs and ports from their ranges, and release them", async () => {
    const plain = await create(SERVICES, { metadata: { name: "plain" }, spec: { ports: [{ port: 80 }] } });
    const open = await create(SERVICES, {
      metadata: { name: "open" },
      spec: { type: "NodePort", ports: [{ port: 80 }] },
    });
    const headless = await create(SERVICES, {
      metadata: { name: "headless" },
      spec: { clusterIP: "None", ports: [{ port: 80 }] },
    });
    const { clusterIP } = plain.spec as { clusterIP: string };
    const taken = await subject.api.create(SERVICES, {
      metadata: { name: "thief" },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });
    const moved = await subject.api.patch("merge", `${SERVICES}/plain`, {
      spec: { clusterIP: "10.96.200.200", clusterIPs: ["10.96.200.200"] },
    });
    await subject.api.delete(`${SERVICES}/plain`);
    const freed = await subject.api.create(SERVICES, {
      metadata: { name: "heir" },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });

    expect(plain.spec).toMatchObject({
      type: "ClusterIP",
      clusterIP: expect.stringMatching(/^10\./),
      clusterIPs: [clusterIP],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      internalTrafficPolicy: "Cluster",
      ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
    });
    expect((open.spec as { ports: { nodePort: number }[] }).ports[0]?.nodePort).toBeGreaterThanOrEqual(30_000);
    expect(headless.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
    expect([taken.status, taken.body.message]).toEqual([
      422,
      expect.stringContaining("provided IP is already allocated"),
    ]);
    expect(moved.status).toBe(422);
    expect(freed.status).toBe(201);
  });

  test("stringData of a Secret becomes data, and is never stored", async () => {
    const secret = await create(SECRETS, {
      metadata: { name: "written" },
      data: { a: "b2xk", b: "a2VwdA==" },
      stringData: { a: "new" },
    });
    const bad = await subject.api.create(SECRETS, { metadata: { name: "unencoded" }, data: { a: "%%%" } });

    expect(secret).toMatchObject({ type: "Opaque", data: { a: "bmV3", b: "a2VwdA==" } });
    expect(secret).not.toHaveProperty("stringData");
    expect(bad.status).toBe(400);
  });

  test("an update of a custom resource requires a resourceVersion", async () => {
    const path = await defineResource(subject.api, "Versioned", { namespace: NAMESPACE });
    const object = { apiVersion: "versioned.example.com/v1", kind: "Versioned", metadata: { name: "a" } };
    await create(path, object);

    const { status, body } = await subject.api.replace(`${path}/a`, object);

    expect([status, body.message]).toEqual([
      422,
      'versioneds.versioned.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
  });
});
