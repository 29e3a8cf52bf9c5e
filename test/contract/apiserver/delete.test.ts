/** Deletion: options, finalizers and garbage collection. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makeDeployment, makePod, pods } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";
import type { Body } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const REPLICA_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;

contract("delete", (subject) => {
  const create = async (path: string, object: object): Promise<Body> => (await subject.api.create(path, object)).body;
  const gone = async (path: string): Promise<number> =>
    (
      await eventually(
        `${path} is gone`,
        () => subject.api.get(path),
        ({ status }) => status === 404,
      )
    ).status;
  const ownedBy = (owner: Body, blockOwnerDeletion = false): object => ({
    ownerReferences: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        blockOwnerDeletion: blockOwnerDeletion || undefined,
      },
    ],
  });

  test("delete options are read from the body or the query", async () => {
    for (const [name, path, body] of [
      ["in-query", "?propagationPolicy=Foreground", undefined],
      ["in-body", "", { propagationPolicy: "Foreground" }],
    ] as const) {
      await create(CONFIG_MAPS, makeConfigMap(name, {}, { finalizers: ["example.com/hold"] }));

      const answer = await subject.api.delete(`${CONFIG_MAPS}/${name}${path}`, body);

      expect(answer.body.metadata.finalizers).toEqual(["example.com/hold", "foregroundDeletion"]);
    }
  });

  test("an immediate deletion returns a Status that names the object", async () => {
    const { metadata } = await create(DEPLOYMENTS, makeDeployment("brief"));

    const { status, body } = await subject.api.delete(`${DEPLOYMENTS}/brief`);

    expect(status).toBe(200);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "brief", group: "apps", kind: "deployments", uid: metadata.uid },
    });
  });

  test("some kinds return the deleted object instead", async () => {
    await create(pods(NAMESPACE), makePod("returned"));
    await create(`/api/v1/namespaces/${NAMESPACE}/services`, {
      metadata: { name: "returned" },
      spec: { ports: [{ port: 80 }] },
    });
    await create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: "returned" } });

    expect((await subject.api.delete(`${pods(NAMESPACE)}/returned`)).body.kind).toBe("Pod");
    expect((await subject.api.delete(`/api/v1/namespaces/${NAMESPACE}/services/returned`)).body.kind).toBe("Service");
    expect((await subject.api.delete(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/returned`)).body.kind).toBe(
      "ServiceAccount",
    );
  });

  test("failed delete preconditions conflict, and the object stays", async () => {
    const { metadata } = await create(CONFIG_MAPS, makeConfigMap("guarded"));
    const path = `${CONFIG_MAPS}/guarded`;

    const uid = await subject.api.delete(path, { preconditions: { uid: "11111111-1111-1111-1111-111111111111" } });
    const version = await subject.api.delete(path, { preconditions: { resourceVersion: "1" } });
    const both = await subject.api.delete(path, {
      preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    });

    expect([uid.status, uid.body.message]).toEqual([
      409,
      expect.stringContaining(
        "the UID in the precondition (11111111-1111-1111-1111-111111111111) does not match the UID in record",
      ),
    ]);
    expect([version.status, version.body.message]).toEqual([
      409,
      expect.stringContaining(
        "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record",
      ),
    ]);
    expect(both.status).toBe(200);
  });

  test("a finalizer keeps an object until it is removed, and none may be added meanwhile", async () => {
    await create(DEPLOYMENTS, makeDeployment("held", {}, { finalizers: ["example.com/a", "example.com/b"] }));
    const path = `${DEPLOYMENTS}/held`;
    const watch = await subject.api.watch(`${DEPLOYMENTS}?watch=1&fieldSelector=metadata.name=held`);

    const deleted = await subject.api.delete(path);
    const again = await subject.api.delete(path);
    const added = await subject.api.patch("merge", path, {
      metadata: { finalizers: ["example.com/a", "example.com/b", "example.com/c"] },
    });
    await subject.api.patch("merge", path, { metadata: { finalizers: ["example.com/b"] } });
    const last = await subject.api.patch("merge", path, { metadata: { finalizers: null } });

    expect(deleted.body).toMatchObject({
      kind: "Deployment",
      metadata: { generation: 2, deletionGracePeriodSeconds: 0, deletionTimestamp: expect.stringMatching(/Z$/) },
    });
    expect(again.body.metadata.deletionTimestamp).toBe(deleted.body.metadata.deletionTimestamp);
    expect([added.status, added.body.message]).toEqual([
      422,
      expect.stringContaining(
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}',
      ),
    ]);
    expect(last.status).toBe(200);
    expect((await subject.api.get(path)).status).toBe(404);
    expect((await watch.take(4)).map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
    watch.close();
  });

  test("conflicting or unknown propagation policies are rejected with 422", async () => {
    await create(CONFIG_MAPS, makeConfigMap("policies"));

    expect(
      (await subject.api.delete(`${CONFIG_MAPS}/policies`, { propagationPolicy: "Orphan", orphanDependents: true }))
        .status,
    ).toBe(422);
    expect((await subject.api.delete(`${CONFIG_MAPS}/policies`, { propagationPolicy: "Sideways" })).status).toBe(422);
    expect((await subject.api.get(`${CONFIG_MAPS}/policies`)).status).toBe(200);
  });

  test("a Job orphans its pods by default, with a warning", async () => {
    const { metadata } = await create(JOBS, {
      metadata: { name: "done" },
      spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b" }] } } },
    });
    await create(
      pods(NAMESPACE),
      makePod("of-done", {
        ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "done", uid: metadata.uid }],
      }),
    );

    const { warnings } = await subject.api.delete(`${JOBS}/done`);

    await gone(`${JOBS}/done`);
    expect(warnings).toEqual([
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove " +
        "them or set propagationPolicy=Orphan to suppress this warning",
    ]);
    expect((await subject.api.get(`${pods(NAMESPACE)}/of-done`)).body.metadata).not.toHaveProperty("ownerReferences");
  });

  test("background deletion deletes dependents after their owner", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("bg-owner"));
    await create(CONFIG_MAPS, makeConfigMap("bg-child", {}, ownedBy(owner)));

    const { body } = await subject.api.delete(`${CONFIG_MAPS}/bg-owner`, { propagationPolicy: "Background" });

    expect(body.status).toBe("Success");
    expect(await gone(`${CONFIG_MAPS}/bg-child`)).toBe(404);
  });

  test("foreground deletion waits for the dependents that block the owner", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("fg-owner"));
    await create(
      CONFIG_MAPS,
      makeConfigMap("fg-child", {}, { ...ownedBy(owner, true), finalizers: ["example.com/hold"] }),
    );

    const { body } = await subject.api.delete(`${CONFIG_MAPS}/fg-owner`, { propagationPolicy: "Foreground" });
    await eventually(
      "the child is being deleted",
      () => subject.api.get(`${CONFIG_MAPS}/fg-child`),
      ({ body: child }) => child.metadata.deletionTimestamp !== undefined,
    );
    const waiting = await subject.api.get(`${CONFIG_MAPS}/fg-owner`);
    await subject.api.patch("merge", `${CONFIG_MAPS}/fg-child`, { metadata: { finalizers: null } });

    expect(body.metadata.finalizers).toEqual(["foregroundDeletion"]);
    expect(waiting.status).toBe(200);
    await gone(`${CONFIG_MAPS}/fg-owner`);
    expect((await subject.api.get(`${CONFIG_MAPS}/fg-child`)).status).toBe(404);
  });

  test("orphaned dependents lose their owner reference and stay", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("orphan-owner"));
    await create(CONFIG_MAPS, makeConfigMap("orphan-child", {}, ownedBy(owner)));

    await subject.api.delete(`${CONFIG_MAPS}/orphan-owner`, { propagationPolicy: "Orphan" });

    await gone(`${CONFIG_MAPS}/orphan-owner`);
    expect((await subject.api.get(`${CONFIG_MAPS}/orphan-child`)).body.metadata).not.toHaveProperty("ownerReferences");
  });

  test("an object whose owner never existed is collected, one with another live owner stays", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("living"));
    const [living] = (ownedBy(owner) as { ownerReferences: object[] }).ownerReferences;
    const absent = { apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "11111111-1111-1111-1111-111111111111" };
    await create(CONFIG_MAPS, makeConfigMap("shared-child", {}, { ownerReferences: [absent, living] }));
    await create(CONFIG_MAPS, makeConfigMap("lost-child", {}, { ownerReferences: [absent] }));

    await gone(`${CONFIG_MAPS}/lost-child`);

    expect((await subject.api.get(`${CONFIG_MAPS}/shared-child`)).status).toBe(200);
  });

  test("owners that own each other do not block deletion", async () => {
    const first = await create(CONFIG_MAPS, makeConfigMap("circle-a"));
    const second = await create(CONFIG_MAPS, makeConfigMap("circle-b", {}, ownedBy(first, true)));
    await subject.api.patch("merge", `${CONFIG_MAPS}/circle-a`, { metadata: ownedBy(second, true) });

    await subject.api.delete(`${CONFIG_MAPS}/circle-a`, { propagationPolicy: "Foreground" });

    expect(await gone(`${CONFIG_MAPS}/circle-a`)).toBe(404);
    expect(await gone(`${CONFIG_MAPS}/circle-b`)).toBe(404);
  });

  test("a scheduled pod is deleted after its grace period; others are deleted at once", async () => {
    await create(pods(NAMESPACE), makePod("running", {}, { nodeName: "n1" }));
    await create(pods(NAMESPACE), makePod("waiting"));

    const graceful = await subject.api.delete(`${pods(NAMESPACE)}/running`);
    const shorter = await subject.api.delete(`${pods(NAMESPACE)}/running?gracePeriodSeconds=5`);
    const forced = await subject.api.delete(`${pods(NAMESPACE)}/running?gracePeriodSeconds=0`);
    await subject.api.delete(`${pods(NAMESPACE)}/waiting`);

    expect(graceful.body.metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: expect.any(String),
    });
    expect(shorter.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 5 });
    expect(forced.status).toBe(200);
    expect((await subject.api.get(`${pods(NAMESPACE)}/running`)).status).toBe(404);
    expect((await subject.api.get(`${pods(NAMESPACE)}/waiting`)).status).toBe(404);
  });

  test("deletecollection deletes by selector, and returns the deleted objects", async () => {
    for (const [name, batch] of [
      ["batch-a", "1"],
      ["batch-b", "1"],
      ["batch-c", "2"],
    ] as const)
      await create(CONFIG_MAPS, makeConfigMap(name, {}, { labels: { batch } }));

    const { status, body } = await subject.api.delete(`${CONFIG_MAPS}?labelSelector=batch%3D1`);

    expect(status).toBe(200);
    expect([body.kind, body.items.map(({ metadata }) => metadata.name).toSorted()]).toEqual([
      "ConfigMapList",
      ["batch-a", "batch-b"],
    ]);
    expect(
      (await subject.api.get(`${CONFIG_MAPS}?labelSelector=batch`)).body.items.map(({ metadata }) => metadata.name),
    ).toEqual(["batch-c"]);
  });

  test("ignoreStoreReadErrorWithClusterBreakingPotential deletes a readable object as usual", async () => {
    await create(CONFIG_MAPS, makeConfigMap("readable"));

    const { status } = await subject.api.delete(`${CONFIG_MAPS}/readable`, {
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
    });

    expect([status, (await subject.api.get(`${CONFIG_MAPS}/readable`)).status]).toEqual([200, 404]);
  });

  const isFlotilla = subject.name === "flotilla";
  if (!isFlotilla)
    process.stdout.write(
      `skipped: custom resources as owners on ${subject.name}: it discovers new kinds only every 30 seconds\n`,
    );
  test.runIf(isFlotilla)("custom resources can be owners and dependents", async () => {
    const path = await defineResource(subject.api, "Owner", { namespace: NAMESPACE });
    const owner = await create(path, {
      apiVersion: "owner.example.com/v1",
      kind: "Owner",
      metadata: { name: "custom" },
    });
    await create(REPLICA_SETS, {
      metadata: {
        name: "of-custom",
        ownerReferences: [
          { apiVersion: "owner.example.com/v1", kind: "Owner", name: "custom", uid: owner.metadata.uid },
        ],
      },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "b" }] } },
      },
    });

    await subject.api.delete(`${path}/custom`);

    expect(await gone(`${REPLICA_SETS}/of-custom`)).toBe(404);
  });
});
