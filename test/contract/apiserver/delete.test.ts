/** A7 of the specification: deletion, with its options, its waiting and what it takes along. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makeDeployment, makePod, pods } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "./targets.ts";
import type { Body } from "./raw-client.ts";

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

  test("DL-1: options are read from the body or the query", async () => {
    for (const [name, path, body] of [
      ["in-query", "?propagationPolicy=Foreground", undefined],
      ["in-body", "", { propagationPolicy: "Foreground" }],
    ] as const) {
      await create(CONFIG_MAPS, makeConfigMap(name, {}, { finalizers: ["example.com/hold"] }));

      const answer = await subject.api.delete(`${CONFIG_MAPS}/${name}${path}`, body);

      expect(answer.body.metadata.finalizers).toEqual(["example.com/hold", "foregroundDeletion"]);
    }
  });

  test("DL-2: a deletion at once is answered with a Status that names the object", async () => {
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

  test("DL-2: some kinds answer with the object instead", async () => {
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

  test("DL-3: preconditions that do not hold conflict, and the object stays", async () => {
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

  test("DL-4: a finalizer holds an object until it is removed, and none may be added meanwhile", async () => {
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

  test("DL-5: policies that contradict each other or are unknown are refused with 422", async () => {
    await create(CONFIG_MAPS, makeConfigMap("policies"));

    expect(
      (await subject.api.delete(`${CONFIG_MAPS}/policies`, { propagationPolicy: "Orphan", orphanDependents: true }))
        .status,
    ).toBe(422);
    expect((await subject.api.delete(`${CONFIG_MAPS}/policies`, { propagationPolicy: "Sideways" })).status).toBe(422);
    expect((await subject.api.get(`${CONFIG_MAPS}/policies`)).status).toBe(200);
  });

  test("DL-5: a Job leaves its pods unless told otherwise, and says so", async () => {
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
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    ]);
    expect((await subject.api.get(`${pods(NAMESPACE)}/of-done`)).body.metadata).not.toHaveProperty("ownerReferences");
  });

  test("DL-6: in the background, dependents go after their owner", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("bg-owner"));
    await create(CONFIG_MAPS, makeConfigMap("bg-child", {}, ownedBy(owner)));

    const { body } = await subject.api.delete(`${CONFIG_MAPS}/bg-owner`, { propagationPolicy: "Background" });

    expect(body.status).toBe("Success");
    expect(await gone(`${CONFIG_MAPS}/bg-child`)).toBe(404);
  });

  test("DL-6: in the foreground, an owner waits for the dependents that block it", async () => {
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

  test("DL-6: orphans lose the reference to their owner and stay", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("orphan-owner"));
    await create(CONFIG_MAPS, makeConfigMap("orphan-child", {}, ownedBy(owner)));

    await subject.api.delete(`${CONFIG_MAPS}/orphan-owner`, { propagationPolicy: "Orphan" });

    await gone(`${CONFIG_MAPS}/orphan-owner`);
    expect((await subject.api.get(`${CONFIG_MAPS}/orphan-child`)).body.metadata).not.toHaveProperty("ownerReferences");
  });

  test("DL-6: an object whose owner never was is collected, one with another living owner stays", async () => {
    const owner = await create(CONFIG_MAPS, makeConfigMap("living"));
    const [living] = (ownedBy(owner) as { ownerReferences: object[] }).ownerReferences;
    const absent = { apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "11111111-1111-1111-1111-111111111111" };
    await create(CONFIG_MAPS, makeConfigMap("shared-child", {}, { ownerReferences: [absent, living] }));
    await create(CONFIG_MAPS, makeConfigMap("lost-child", {}, { ownerReferences: [absent] }));

    await gone(`${CONFIG_MAPS}/lost-child`);

    expect((await subject.api.get(`${CONFIG_MAPS}/shared-child`)).status).toBe(200);
  });

  test("DL-6: owners that own each other do not block deletion", async () => {
    const first = await create(CONFIG_MAPS, makeConfigMap("circle-a"));
    const second = await create(CONFIG_MAPS, makeConfigMap("circle-b", {}, ownedBy(first, true)));
    await subject.api.patch("merge", `${CONFIG_MAPS}/circle-a`, { metadata: ownedBy(second, true) });

    await subject.api.delete(`${CONFIG_MAPS}/circle-a`, { propagationPolicy: "Foreground" });

    expect(await gone(`${CONFIG_MAPS}/circle-a`)).toBe(404);
    expect(await gone(`${CONFIG_MAPS}/circle-b`)).toBe(404);
  });

  test("DL-7: a scheduled pod is given its grace period and goes when it is over; others go at once", async () => {
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

  test("DL-8: a collection is deleted by its selectors, and what was deleted is answered", async () => {
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

  test("DL-9: asking to ignore unreadable data deletes a readable object as usual", async () => {
    await create(CONFIG_MAPS, makeConfigMap("readable"));

    const { status } = await subject.api.delete(`${CONFIG_MAPS}/readable`, {
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
    });

    expect([status, (await subject.api.get(`${CONFIG_MAPS}/readable`)).status]).toEqual([200, 404]);
  });

  // The real collector looks for new kinds every thirty seconds, which is too long to wait for.
  test.runIf(subject.name === "flotilla")("DL-6: custom resources own and are owned", async () => {
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
