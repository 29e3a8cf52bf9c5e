/** Namespaces and the objects that exist in every cluster. */
import { expect, test } from "vitest";
import { makeConfigMap } from "./objects.ts";
import { NAMESPACE, contract, eventually } from "../../programs/api-servers.ts";

const NAMESPACES = "/api/v1/namespaces";

contract("namespaces", (subject) => {
  const present = (path: string): Promise<unknown> =>
    eventually(
      `${path} is there`,
      () => subject.api.get(path),
      ({ status }) => status === 200,
    );

  test("a namespace has a phase, a finalizer and a label with its name", async () => {
    const { body } = await subject.api.create(NAMESPACES, { metadata: { name: "shaped" } });

    expect(body).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "shaped" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("finalize changes the finalizers of the spec", async () => {
    const created = await subject.api.create(NAMESPACES, { metadata: { name: "finalized" } });

    const { status, body } = await subject.api.replace(`${NAMESPACES}/finalized/finalize`, {
      ...created.body,
      spec: { finalizers: ["kubernetes", "example.com/mine"] },
    });

    expect([status, body.spec]).toEqual([200, { finalizers: ["kubernetes", "example.com/mine"] }]);
  });

  test("a deleted namespace deletes its contents, reports what it waits for, and is removed", async () => {
    await subject.api.create(NAMESPACES, { metadata: { name: "leaving" } });
    await subject.api.create(
      `${NAMESPACES}/leaving/configmaps`,
      makeConfigMap("held", {}, { finalizers: ["example.com/hold"] }),
    );
    await subject.api.create(`${NAMESPACES}/leaving/secrets`, { metadata: { name: "free" } });

    const deleted = await subject.api.delete(`${NAMESPACES}/leaving`);
    const waiting = await eventually(
      "its report",
      () => subject.api.get(`${NAMESPACES}/leaving`),
      ({ text }) => text.includes("SomeFinalizersRemain"),
    );
    const secret = await subject.api.get(`${NAMESPACES}/leaving/secrets/free`);
    const late = await subject.api.create(`${NAMESPACES}/leaving/configmaps`, makeConfigMap("late"));
    await subject.api.patch("merge", `${NAMESPACES}/leaving/configmaps/held`, { metadata: { finalizers: null } });

    expect(deleted.body).toMatchObject({
      kind: "Namespace",
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: "Terminating" },
    });
    expect(waiting.body.status).toMatchObject({
      phase: "Terminating",
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "NamespaceContentRemaining", status: "True", reason: "SomeResourcesRemain" }),
        expect.objectContaining({
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
        }),
        expect.objectContaining({ type: "NamespaceDeletionContentFailure", status: "False" }),
      ]),
    });
    expect(secret.status).toBe(404);
    expect(
      [late.status, late.body.details?.causes?.[0]?.reason],
      "a terminating namespace accepts no new objects",
    ).toEqual([403, "NamespaceTerminating"]);
    await eventually(
      "its end",
      () => subject.api.get(`${NAMESPACES}/leaving`),
      ({ status }) => status === 404,
    );
  });

  test("creating an object in a missing namespace is rejected, and system namespaces cannot be deleted", async () => {
    const missing = await subject.api.create(`${NAMESPACES}/absent/configmaps`, makeConfigMap("a"));
    const system = await Promise.all(
      ["default", "kube-system", "kube-public"].map((name) => subject.api.delete(`${NAMESPACES}/${name}`)),
    );

    expect([missing.status, missing.body.message]).toEqual([404, 'namespaces "absent" not found']);
    expect(system.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(system[0]?.body.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  test("a cluster starts with its namespaces, its service and its roles", async () => {
    for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
      await present(`${NAMESPACES}/${name}`);
    await present(`${NAMESPACES}/default/services/kubernetes`);
    await present("/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin");

    expect((await subject.api.get(`${NAMESPACES}/default/services/kubernetes`)).body.spec).toMatchObject({
      type: "ClusterIP",
      clusterIP: expect.stringMatching(/^10\./),
      ports: [{ name: "https", port: 443, protocol: "TCP" }],
    });
  });

  test("every namespace gets a service account and the root certificate, and gets them again after deletion", async () => {
    await subject.api.create(NAMESPACES, { metadata: { name: "furnished" } });
    const account = `${NAMESPACES}/furnished/serviceaccounts/default`;
    const certificate = `${NAMESPACES}/furnished/configmaps/kube-root-ca.crt`;
    await present(account);
    await present(certificate);
    const { uid } = (await subject.api.get(account)).body.metadata;

    await subject.api.delete(account);
    await subject.api.delete(certificate);

    await eventually(
      "a new account",
      () => subject.api.get(account),
      ({ status, body }) => status === 200 && body.metadata.uid !== uid,
    );
    const { body } = await eventually(
      "the certificate",
      () => subject.api.get(certificate),
      ({ status }) => status === 200,
    );
    expect((body["data"] as Record<string, string>)["ca.crt"]).toMatch(/^-----BEGIN CERTIFICATE-----/);
  });

  test("a service account token Secret is filled with a valid token, and is deleted with the account", async () => {
    const accounts = `${NAMESPACES}/${NAMESPACE}/serviceaccounts`;
    const secret = `${NAMESPACES}/${NAMESPACE}/secrets/long-lived`;
    await subject.api.create(accounts, { metadata: { name: "keeper" } });
    await subject.api.create(`${NAMESPACES}/${NAMESPACE}/secrets`, {
      metadata: { name: "long-lived", annotations: { "kubernetes.io/service-account.name": "keeper" } },
      type: "kubernetes.io/service-account-token",
    });
    const filled = await eventually(
      "the token",
      () => subject.api.get(secret),
      ({ body }) => (body["data"] as Record<string, string> | undefined)?.["token"] !== undefined,
    );
    const data = filled.body["data"] as Record<string, string>;
    const decoded = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();

    const whoami = await subject
      .connect({ token: decoded("token") })
      .create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    await subject.api.delete(`${accounts}/keeper`);

    expect([decoded("namespace"), decoded("ca.crt").slice(0, 27)]).toEqual([NAMESPACE, "-----BEGIN CERTIFICATE-----"]);
    expect(whoami.body.status).toMatchObject({ userInfo: { username: `system:serviceaccount:${NAMESPACE}:keeper` } });
    await eventually(
      "the Secret is gone",
      () => subject.api.get(secret),
      ({ status }) => status === 404,
    );
  });
});
