/** Patches: JSON patch, merge patch and strategic merge patch. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { makeConfigMap, makeDeployment } from "./objects.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";
import type { Answer } from "../../programs/raw-client.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const GENERIC = /^the server rejected our request due to an error in our request$/;

interface Container {
  name: string;
  image?: string;
  env?: { name: string; value?: string }[];
  ports?: { containerPort: number; protocol: string }[];
  args?: string[];
}

contract("patch", (subject) => {
  let counter = 0;
  const patchedMap = async (
    operations: unknown,
    data: Record<string, string> = { a: "1", b: "2" },
  ): Promise<Answer> => {
    const name = `patched-${++counter}`;
    await subject.api.create(CONFIG_MAPS, makeConfigMap(name, data));
    return subject.api.patch("json", `${CONFIG_MAPS}/${name}`, operations);
  };

  const operations: Record<string, [operations: unknown, data: Record<string, string>]> = {
    add: [[{ op: "add", path: "/data/c", value: "3" }], { a: "1", b: "2", c: "3" }],
    replace: [[{ op: "replace", path: "/data/a", value: "9" }], { a: "9", b: "2" }],
    remove: [[{ op: "remove", path: "/data/a" }], { b: "2" }],
    move: [[{ op: "move", from: "/data/a", path: "/data/z" }], { b: "2", z: "1" }],
    copy: [[{ op: "copy", from: "/data/a", path: "/data/z" }], { a: "1", b: "2", z: "1" }],
    "a test that succeeds": [
      [
        { op: "test", path: "/data/a", value: "1" },
        { op: "add", path: "/data/c", value: "3" },
      ],
      { a: "1", b: "2", c: "3" },
    ],
    "a replace of a missing key, which adds it": [
      [{ op: "replace", path: "/data/c", value: "3" }],
      { a: "1", b: "2", c: "3" },
    ],
    "a key with escaped characters": [
      [
        { op: "add", path: "/metadata/annotations", value: { "example.com/x": "1" } },
        { op: "replace", path: "/metadata/annotations/example.com~1x", value: "2" },
      ],
      { a: "1", b: "2" },
    ],
  };
  for (const [what, [patch, data]] of Object.entries(operations)) {
    test(`a JSON patch with ${what} is applied`, async () => {
      const { status, body } = await patchedMap(patch);

      expect([status, body["data"]]).toEqual([200, data]);
    });
  }

  const failures: Record<string, [operations: unknown, status: number, message: RegExp]> = {
    "a test that fails": [[{ op: "test", path: "/data/a", value: "7" }], 422, GENERIC],
    "a removal of a missing key": [[{ op: "remove", path: "/data/z" }], 422, GENERIC],
    "an unknown operation": [[{ op: "turn", path: "/data/a" }], 422, GENERIC],
    "a body that is not a list": [{ op: "add" }, 400, /./],
    "a body that is not JSON": ["[", 400, /./],
  };
  for (const [what, [patch, status, message]] of Object.entries(failures)) {
    test(`a JSON patch with ${what} is rejected with ${status}`, async () => {
      const answer = await patchedMap(patch);

      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
    });
  }

  test("a merge patch sets fields, replaces lists, and removes with null", async () => {
    await subject.api.create(
      DEPLOYMENTS,
      makeDeployment("merged", {
        template: {
          metadata: { labels: { app: "merged", extra: "1" } },
          spec: {
            containers: [
              { name: "a", image: "a" },
              { name: "b", image: "b" },
            ],
          },
        },
      }),
    );

    const { status, body } = await subject.api.patch("merge", `${DEPLOYMENTS}/merged`, {
      spec: {
        replicas: 4,
        template: { metadata: { labels: { extra: null } }, spec: { containers: [{ name: "c", image: "c" }] } },
      },
    });

    expect(status).toBe(200);
    expect(body.spec).toMatchObject({
      replicas: 4,
      template: { metadata: { labels: { app: "merged" } }, spec: { containers: [{ name: "c", image: "c" }] } },
    });
    expect((body.spec as { template: { metadata: { labels: object } } }).template.metadata.labels).toEqual({
      app: "merged",
    });
  });

  test("the patched object is validated as an update, and patching a missing object returns 404", async () => {
    await subject.api.create(DEPLOYMENTS, makeDeployment("checked"));

    const invalid = await subject.api.patch("merge", `${DEPLOYMENTS}/checked`, { spec: { replicas: -1 } });
    const strict = await subject.api.patch("merge", `${DEPLOYMENTS}/checked?fieldValidation=Strict`, {
      spec: { replica: 1 },
    });
    const renamed = await subject.api.patch("merge", `${DEPLOYMENTS}/checked`, { metadata: { name: "other" } });
    const missing = await subject.api.patch("merge", `${DEPLOYMENTS}/missing`, {});

    expect(invalid.status).toBe(422);
    expect([strict.status, strict.body.message]).toEqual([
      422,
      expect.stringContaining('unknown field "spec.replica"'),
    ]);
    expect(renamed.status).toBe(400);
    expect(missing.status).toBe(404);
  });

  const containers = [
    {
      name: "a",
      image: "a:1",
      env: [
        { name: "X", value: "1" },
        { name: "Y", value: "2" },
      ],
      ports: [{ containerPort: 80 }],
      args: ["one", "two"],
    },
    { name: "b", image: "b:1" },
  ];
  const merge = async (patch: object): Promise<{ status: number; containers: Container[] }> => {
    const name = `strategic-${++counter}`;
    await subject.api.create(
      DEPLOYMENTS,
      makeDeployment(name, { template: { metadata: { labels: { app: name } }, spec: { containers } } }),
    );
    const { status, body } = await subject.api.patch("strategic", `${DEPLOYMENTS}/${name}`, {
      spec: { template: { spec: patch } },
    });
    return {
      status,
      containers:
        (body.spec as { template: { spec: { containers: Container[] } } } | undefined)?.template.spec.containers ?? [],
    };
  };
  const images = (list: Container[]): string[] => list.map(({ name, image }) => `${name} ${image}`);

  test("containers merge by name, and new ones come first", async () => {
    const { containers: result } = await merge({
      containers: [
        { name: "b", image: "b:2" },
        { name: "c", image: "c:1" },
      ],
    });

    expect(images(result).toSorted()).toEqual(["a a:1", "b b:2", "c c:1"]);
    expect(result.find(({ name }) => name === "a")?.env).toHaveLength(2);
  });

  test("env variables merge by name, ports by number, and plain lists are replaced", async () => {
    const { containers: result } = await merge({
      containers: [
        {
          name: "a",
          env: [{ name: "Y", value: "9" }],
          ports: [{ containerPort: 80, name: "http" }, { containerPort: 81 }],
          args: ["three"],
        },
      ],
    });
    const a = result.find(({ name }) => name === "a");

    expect(a?.env?.toSorted((x, y) => x.name.localeCompare(y.name))).toEqual([
      { name: "X", value: "1" },
      { name: "Y", value: "9" },
    ]);
    expect(a?.ports?.map(({ containerPort }) => containerPort).toSorted()).toEqual([80, 81]);
    expect(a?.args).toEqual(["three"]);
  });

  test("directives delete and replace items, and set the order", async () => {
    expect(images((await merge({ containers: [{ name: "a", $patch: "delete" }] })).containers)).toEqual(["b b:1"]);
    expect(
      images((await merge({ containers: [{ name: "c", image: "c:1" }, { $patch: "replace" }] })).containers),
    ).toEqual(["c c:1"]);
    expect(
      images(
        (
          await merge({
            "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
            containers: [{ name: "a", image: "a:2" }],
          })
        ).containers,
      ),
    ).toEqual(["b b:1", "a a:2"]);
  });

  test("finalizers merge as a set, and items can be deleted", async () => {
    await subject.api.create(
      CONFIG_MAPS,
      makeConfigMap("finalized", {}, { finalizers: ["example.com/a", "example.com/b"] }),
    );
    const path = `${CONFIG_MAPS}/finalized`;

    const added = await subject.api.patch("strategic", path, {
      metadata: { finalizers: ["example.com/c", "example.com/a"] },
    });
    const removed = await subject.api.patch("strategic", path, {
      metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/b"] },
    });

    expect(added.body.metadata.finalizers?.toSorted()).toEqual(["example.com/a", "example.com/b", "example.com/c"]);
    expect(removed.body.metadata.finalizers?.toSorted()).toEqual(["example.com/a", "example.com/c"]);
  });

  test("$retainKeys drops the other keys of a strategy", async () => {
    await subject.api.create(DEPLOYMENTS, makeDeployment("recreated"));

    const { status, body } = await subject.api.patch("strategic", `${DEPLOYMENTS}/recreated`, {
      spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } },
    });

    expect([status, (body.spec as { strategy: object }).strategy]).toEqual([200, { type: "Recreate" }]);
  });

  const broken: Record<string, [patch: object, status: number]> = {
    "an unknown directive": [{ containers: [{ name: "a", $patch: "turn" }] }, 500],
    "an item without its key": [{ containers: [{ image: "x" }] }, 500],
    "a $setElementOrder that misses an item": [
      { "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a", image: "a:2" }] },
      500,
    ],
    "a map for a list": [{ containers: { name: "a" } }, 422],
    "a $setElementOrder without a field": [{ $setElementOrder: [] }, 400],
    "a $setElementOrder that is not a list": [{ "$setElementOrder/containers": 1 }, 500],
    "a $deleteFromPrimitiveList without a field": [{ $deleteFromPrimitiveList: ["a"] }, 400],
  };
  for (const [what, [patch, status]] of Object.entries(broken)) {
    test(`a strategic merge patch with ${what} is answered with ${status}`, async () => {
      expect((await merge(patch)).status).toBe(status);
    });
  }

  test("custom resources accept JSON and merge patches, not strategic ones", async () => {
    const path = await defineResource(subject.api, "Patched", { namespace: NAMESPACE });
    await subject.api.create(path, {
      apiVersion: "patched.example.com/v1",
      kind: "Patched",
      metadata: { name: "a" },
      spec: { list: [1, 2] },
    });

    expect((await subject.api.patch("merge", `${path}/a`, { spec: { list: [3] } })).body.spec).toEqual({ list: [3] });
    expect(
      (await subject.api.patch("json", `${path}/a`, [{ op: "add", path: "/spec/list/-", value: 4 }])).body.spec,
    ).toEqual({ list: [3, 4] });
    expect((await subject.api.patch("strategic", `${path}/a`, { spec: {} })).status).toBe(415);
  });
});
