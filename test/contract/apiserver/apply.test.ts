/** Server-side apply and field ownership. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makeDeployment } from "./objects.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";
import type { Answer, Body } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const SERVICES = `/api/v1/namespaces/${NAMESPACE}/services`;

contract("apply", (subject) => {
  const apply = (manager: string, object: object, query = ""): Promise<Answer> => {
    const { kind, metadata } = object as Body;
    const collection = kind === "ConfigMap" ? CONFIG_MAPS : kind === "Service" ? SERVICES : DEPLOYMENTS;
    return subject.api.patch("apply", `${collection}/${metadata.name}?fieldManager=${manager}${query}`, object);
  };
  const owners = ({ body }: Answer): string[] =>
    (body.metadata.managedFields ?? []).map(
      ({ manager, operation, subresource }) => `${manager} ${operation}${subresource ? ` ${subresource}` : ""}`,
    );
  const owned = ({ body }: Answer, manager: string): unknown =>
    body.metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

  test("an apply creates a missing object and updates an existing one", async () => {
    const created = await apply("ann", makeConfigMap("made", { a: "1" }));
    const updated = await apply("ann", makeConfigMap("made", { a: "2" }));

    expect([created.status, updated.status, updated.body["data"]]).toEqual([201, 200, { a: "2" }]);
  });

  test("the body of an apply may be YAML", async () => {
    const { status, body } = await subject.api.patch(
      "apply",
      `${CONFIG_MAPS}/yaml?fieldManager=ann`,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: 'on'\n",
    );

    expect([status, body["data"]]).toEqual([201, { a: "on" }]);
  });

  const refused: Record<string, [query: string, object: object, status: number]> = {
    "no field manager": ["", makeConfigMap("refused"), 422],
    "no kind": ["?fieldManager=ann", { metadata: { name: "refused" } }, 400],
    "managed fields in the body": ["?fieldManager=ann", makeConfigMap("refused", {}, { managedFields: [] }), 400],
    "a wrong type": ["?fieldManager=ann", { ...makeConfigMap("refused"), data: { a: 1 } }, 500],
    "an unknown field": ["?fieldManager=ann", { ...makeConfigMap("refused"), colour: "blue" }, 500],
  };
  for (const [what, [query, object, status]] of Object.entries(refused)) {
    test(`an apply with ${what} is rejected with ${status}`, async () => {
      expect((await subject.api.patch("apply", `${CONFIG_MAPS}/refused${query}`, object)).status).toBe(status);
    });
  }

  test("a resourceVersion in the applied body is a precondition", async () => {
    await apply("ann", makeConfigMap("preconditioned", { a: "1" }));

    const { status, body } = await apply("ann", makeConfigMap("preconditioned", { a: "2" }, { resourceVersion: "1" }));

    expect([status, body.reason]).toEqual([409, "Conflict"]);
  });

  test("managedFields record which manager wrote which field with which operation", async () => {
    await subject.api.create(`${DEPLOYMENTS}?fieldManager=bob`, makeDeployment("fields"));
    await subject.api.patch("merge", `${DEPLOYMENTS}/fields/status?fieldManager=controller`, {
      status: { observedGeneration: 1 },
    });

    const answer = await apply("ann", {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "fields", labels: { team: "a" } },
      spec: { minReadySeconds: 5 },
    });

    expect(owners(answer).toSorted()).toEqual(["ann Apply", "bob Update", "controller Update status"]);
    expect(answer.body.metadata.managedFields?.find(({ manager }) => manager === "ann")).toMatchObject({
      apiVersion: "apps/v1",
      fieldsType: "FieldsV1",
      time: expect.stringMatching(/Z$/),
      fieldsV1: { "f:metadata": { "f:labels": { "f:team": {} } }, "f:spec": { "f:minReadySeconds": {} } },
    });
    expect(owned(answer, "bob")).toMatchObject({
      "f:spec": {
        "f:template": {
          "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:image": {}, "f:name": {} } } },
        },
      },
    });
    expect(owned(answer, "controller")).toEqual({ "f:status": { "f:observedGeneration": {} } });
  });

  test("a field that is no longer applied is removed, unless another manager owns it too", async () => {
    await apply("ann", makeConfigMap("released", { mine: "1", ours: "1" }));
    await apply("bob", makeConfigMap("released", { ours: "1" }));

    const { body } = await apply("ann", makeConfigMap("released", { other: "1" }));

    expect(body["data"]).toEqual({ ours: "1", other: "1" });
  });

  test("applying another value for a field of another manager conflicts, and the error names field and manager", async () => {
    await apply("ann", makeConfigMap("fought", { a: "1", b: "1" }));

    const one = await apply("bob", makeConfigMap("fought", { a: "2" }));
    const two = await apply("bob", makeConfigMap("fought", { a: "2", b: "2" }));
    const equal = await apply("bob", makeConfigMap("fought", { a: "1" }));

    expect([one.status, one.body.reason, one.body.message]).toEqual([
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "ann": .data.a',
    ]);
    expect(one.body.details?.causes).toEqual([
      { reason: "FieldManagerConflict", message: 'conflict with "ann"', field: ".data.a" },
    ]);
    expect(two.body.message).toBe('Apply failed with 2 conflicts: conflicts with "ann":\n- .data.a\n- .data.b');
    expect(equal.status).toBe(200);
  });

  test("force takes over the ownership of a field", async () => {
    await apply("ann", makeConfigMap("forced", { a: "1" }));

    const answer = await apply("bob", makeConfigMap("forced", { a: "2" }), "&force=true");
    const back = await apply("ann", makeConfigMap("forced", { a: "3" }));

    expect([answer.status, answer.body["data"], owners(answer)]).toEqual([200, { a: "2" }, ["bob Apply"]]);
    expect(back.body.message).toBe('Apply failed with 1 conflict: conflict with "bob": .data.a');
  });

  test("a conflict with an update names the API version that it used", async () => {
    await subject.api.create(`${DEPLOYMENTS}?fieldManager=bob`, makeDeployment("updated", { replicas: 2 }));

    const { body } = await apply("ann", {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "updated" },
      spec: { replicas: 3 },
    });

    expect(body.message).toBe('Apply failed with 1 conflict: conflict with "bob" using apps/v1: .spec.replicas');
  });

  test("an update takes ownership of the fields it changes and leaves the others", async () => {
    await apply("ann", makeConfigMap("taken", { a: "1", b: "1" }));

    const answer = await subject.api.patch("merge", `${CONFIG_MAPS}/taken?fieldManager=bob`, { data: { a: "2" } });
    const forced = await subject.api.patch("merge", `${CONFIG_MAPS}/taken?fieldManager=bob&force=true`, {
      data: { a: "2" },
    });

    expect(owned(answer, "ann")).toEqual({ "f:data": { "f:b": {} } });
    expect(owned(answer, "bob")).toEqual({ "f:data": { "f:a": {} } });
    expect(forced.status).toBe(422);
  });

  test("items of a keyed list belong to different managers, with the defaults of their keys", async () => {
    const service = (ports: object[]): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "keyed" },
      spec: { ports },
    });
    await apply("ann", service([{ name: "http", port: 80 }]));

    const both = await apply("bob", service([{ name: "https", port: 443 }]));
    const left = await apply("bob", { apiVersion: "v1", kind: "Service", metadata: { name: "keyed" } });
    const ports = ({ body }: Answer): number[] =>
      (body.spec as { ports: { port: number }[] }).ports.map(({ port }) => port);

    expect(ports(both)).toEqual([80, 443]);
    expect(owned(both, "ann")).toMatchObject({
      "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} } } },
    });
    expect(ports(left)).toEqual([80]);
  });

  test("lists of custom resources merge as their schema specifies", async () => {
    const list = (type: string, extra: object = {}): object => ({
      type: "array",
      "x-kubernetes-list-type": type,
      items: { type: "string" },
      ...extra,
    });
    const schema = {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            tags: list("set"),
            words: list("atomic"),
            rows: list("map", {
              "x-kubernetes-list-map-keys": ["id"],
              items: {
                type: "object",
                required: ["id"],
                properties: { id: { type: "string" }, value: { type: "string" } },
              },
            }),
          },
        },
      },
    };
    const path = await defineResource(subject.api, "Sheet", { namespace: NAMESPACE, schema });
    const sheet = (spec: object): object => ({
      apiVersion: "sheet.example.com/v1",
      kind: "Sheet",
      metadata: { name: "a" },
      spec,
    });
    await subject.api.patch(
      "apply",
      `${path}/a?fieldManager=ann`,
      sheet({ tags: ["x"], words: ["w"], rows: [{ id: "1", value: "a" }] }),
    );

    const merged = await subject.api.patch(
      "apply",
      `${path}/a?fieldManager=bob`,
      sheet({ tags: ["y"], rows: [{ id: "2", value: "b" }] }),
    );
    const atomic = await subject.api.patch("apply", `${path}/a?fieldManager=bob`, sheet({ words: ["v"] }));
    const duplicate = await subject.api.patch("apply", `${path}/a?fieldManager=bob`, sheet({ tags: ["y", "y"] }));

    expect(merged.body.spec).toEqual({
      tags: ["x", "y"],
      words: ["w"],
      rows: [
        { id: "1", value: "a" },
        { id: "2", value: "b" },
      ],
    });
    expect(atomic.body.message).toBe('Apply failed with 1 conflict: conflict with "ann": .spec.words');
    expect(duplicate.status).toBe(500);
  });

  test("fields of an object without managedFields are owned by before-first-apply", async () => {
    await subject.api.create(CONFIG_MAPS, makeConfigMap("cleared", { a: "1" }));
    await subject.api.patch("merge", `${CONFIG_MAPS}/cleared`, { metadata: { managedFields: [{}] } });

    const answer = await apply("ann", makeConfigMap("cleared", { b: "1" }));

    expect(owners(answer)).toEqual(["ann Apply", "before-first-apply Update"]);
  });

  test("more than ten updaters are merged into one ancient-changes entry", async () => {
    await subject.api.create(`${CONFIG_MAPS}?fieldManager=m0`, makeConfigMap("crowded", { k0: "1" }));
    let answer: Answer | undefined;
    for (let index = 1; index <= 11; index++)
      answer = await subject.api.patch("merge", `${CONFIG_MAPS}/crowded?fieldManager=m${index}`, {
        data: { [`k${index}`]: "1" },
      });

    const managers = answer ? owners(answer) : [];
    expect(managers).toHaveLength(10);
    expect(managers[0]).toBe("ancient-changes Update");
  });

  test("a client may rewrite managedFields, as kubectl does when it migrates to apply", async () => {
    await subject.api.create(
      `${CONFIG_MAPS}?fieldManager=kubectl-client-side-apply`,
      makeConfigMap("migrated", { a: "1" }),
    );
    const { body } = await subject.api.get(`${CONFIG_MAPS}/migrated`);
    const entries = (body.metadata.managedFields ?? []).map((entry) => ({
      ...entry,
      manager: "kubectl",
      operation: "Apply",
    }));

    const moved = await subject.api.patch("json", `${CONFIG_MAPS}/migrated`, [
      { op: "replace", path: "/metadata/managedFields", value: entries },
      { op: "replace", path: "/metadata/resourceVersion", value: body.metadata.resourceVersion },
    ]);
    const applied = await apply("kubectl", makeConfigMap("migrated", { b: "1" }));

    expect([moved.status, owners(moved)]).toEqual([200, ["kubectl Apply"]]);
    expect(applied.body["data"]).toEqual({ b: "1" });
  });

  test("ownership is the same in every version of a kind", async () => {
    const versions = ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } } },
        },
      },
    }));
    const path = await defineResource(subject.api, "Aging", { namespace: NAMESPACE, versions });
    const applyIn = (version: string, manager: string, spec: object): Promise<Answer> =>
      subject.api.patch("apply", `${path.replace("/v1/", `/${version}/`)}/x?fieldManager=${manager}`, {
        apiVersion: `aging.example.com/${version}`,
        kind: "Aging",
        metadata: { name: "x" },
        spec,
      });
    await applyIn("v1", "ann", { a: "1", b: "1" });

    const conflict = await applyIn("v2", "bob", { a: "2" });
    const moved = await applyIn("v2", "ann", { b: "1" });

    expect(conflict.body.message).toBe('Apply failed with 1 conflict: conflict with "ann": .spec.a');
    expect(moved.body.spec).toEqual({ b: "1" });
    expect(owners(moved)).toEqual(["ann Apply"]);
  });

  test("status and scale are applied separately", async () => {
    await apply("ann", makeDeployment("parts", { replicas: 1 }));
    const path = `${DEPLOYMENTS}/parts`;

    const status = await subject.api.patch("apply", `${path}/status?fieldManager=controller`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "parts" },
      spec: { replicas: 9 },
      status: { observedGeneration: 1 },
    });
    const scale = await subject.api.patch("apply", `${path}/scale?fieldManager=scaler&force=true`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "parts", namespace: NAMESPACE },
      spec: { replicas: 3 },
    });
    const after = await subject.api.get(path);

    expect(status.body).toMatchObject({ spec: { replicas: 1 }, status: { observedGeneration: 1 } });
    expect(scale.status).toBe(200);
    expect(after.body.spec).toMatchObject({ replicas: 3 });
    expect(owners(after).toSorted()).toEqual(["ann Apply", "controller Apply status", "scaler Apply scale"]);
    expect(owned(after, "scaler")).toEqual({ "f:spec": { "f:replicas": {} } });
  });
});
