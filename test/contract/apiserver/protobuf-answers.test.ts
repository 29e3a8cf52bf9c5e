/** Answers in protobuf: whole objects, lists, watches, metadata, failures, discovery and OpenAPI. */
import { createProtobufCodec, encodeDocument } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { expect, test } from "vitest";
import { fieldsOf, openDocument, readList } from "../protobuf-document.ts";
import { defineResource } from "./custom-resource.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const METADATA = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const METADATA_LIST = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;

const codec = createProtobufCodec(kubernetesKinds);

const nameOf = (metadata: Buffer | undefined): string =>
  fieldsOf(metadata ?? Buffer.alloc(0))
    .get(1)?.[0]
    ?.toString() ?? "";

/** The events of a whole watch: four bytes of length, then type and document. */
function readWatch(bytes: Buffer): { type: string; document: Buffer }[] {
  const events: { type: string; document: Buffer }[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const event = fieldsOf(bytes.subarray(at + 4, at + 4 + length));
    const object = fieldsOf(event.get(2)?.[0] ?? Buffer.alloc(0));
    events.push({ type: event.get(1)?.[0]?.toString() ?? "", document: object.get(1)?.[0] ?? Buffer.alloc(0) });
    at += 4 + length;
  }
  return events;
}

/** JSON without empty values, which protobuf does not keep. */
function withoutEmpty(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, Json] => [key, withoutEmpty(inner)])
      .filter(([, inner]) => inner !== null && !(isObject(inner) && Object.keys(inner).length === 0)),
  );
}

contract("protobuf answers", (subject) => {
  const get = (path: string, accept = PROTOBUF): ReturnType<typeof subject.api.get> =>
    subject.api.get(path, { accept });

  test("an object is the same in protobuf and in JSON", async () => {
    const created = await subject.api.create(
      CONFIG_MAPS,
      { metadata: { name: "both", labels: { b: "2", a: "1" } }, data: { u: "é" }, binaryData: { x: "AAEC" } },
      { accept: PROTOBUF },
    );
    const protobuf = await get(`${CONFIG_MAPS}/both`);
    const json = await subject.api.get(`${CONFIG_MAPS}/both`);

    expect([created.status, created.headers["content-type"]]).toEqual([201, PROTOBUF]);
    expect(protobuf.bytes.equals(created.bytes)).toBe(true);
    expect(codec.decode(protobuf.bytes)).toEqual(json.body);
  });

  test("what the server has by itself is, byte for byte, its JSON in protobuf", async () => {
    for (const path of [
      "/api/v1/namespaces/default",
      "/api/v1/namespaces/default/services/kubernetes",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin",
      "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
    ]) {
      const { bytes } = await get(path);
      const { body } = await subject.api.get(path);
      const { apiVersion = "", kind = "" } = body;
      const table = codec.tableOf(apiVersion, kind) ?? "";

      const encoded = encodeDocument(table, kind, { apiVersion, kind }, body as unknown as JsonObject);
      expect(Buffer.from(encoded).toString("latin1")).toBe(bytes.toString("latin1"));
    }
  });

  test("a list has its metadata and items, and long ones are whole", async () => {
    for (const path of [CONFIG_MAPS, "/apis/rbac.authorization.k8s.io/v1/clusterroles"]) {
      const { bytes, headers } = await get(`${path}?limit=500`);
      const { body } = await subject.api.get(`${path}?limit=500`);
      const { kind, fields } = openDocument(bytes);

      expect([headers["content-type"], kind]).toEqual([PROTOBUF, body.kind]);
      expect(
        fieldsOf(fields.get(1)?.[0] ?? Buffer.alloc(0))
          .get(2)?.[0]
          ?.toString(),
      ).toBe(body.metadata.resourceVersion);
      expect((fields.get(2) ?? []).map((item) => nameOf(fieldsOf(item).get(1)?.[0]))).toEqual(
        body.items.map(({ metadata }) => metadata.name),
      );
      const items = readList(bytes, (body.kind ?? "").replace(/List$/, ""));
      expect(items.map((item) => withoutEmpty({ ...item, apiVersion: null, kind: null }))).toEqual(
        body.items.map((item) => withoutEmpty(item as unknown as JsonObject)),
      );
    }
  });

  test("a watch sends frames with their length, whole or as metadata", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "seen", labels: { watched: "protobuf" } } });
    const query = "watch=1&timeoutSeconds=1&labelSelector=watched=protobuf";

    const whole = await get(
      `${CONFIG_MAPS}?${query}&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    const metadata = await get(`${CONFIG_MAPS}?${query}`, METADATA);

    expect(whole.headers["content-type"]).toBe(`${PROTOBUF};stream=watch`);
    expect(metadata.headers["content-type"]).toBe(`${PROTOBUF};stream=watch`);
    const [added, bookmark] = readWatch(whole.bytes);
    expect(added?.type).toBe("ADDED");
    expect(codec.decode(added?.document ?? Buffer.alloc(0))).toMatchObject({
      kind: "ConfigMap",
      metadata: { name: "seen" },
    });
    expect(bookmark?.type).toBe("BOOKMARK");
    expect(codec.decode(bookmark?.document ?? Buffer.alloc(0))).toMatchObject({
      metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
    });
    const [first] = readWatch(metadata.bytes).map(({ document }) => openDocument(document));
    expect([first?.apiVersion, first?.kind]).toEqual(["meta.k8s.io/v1", "PartialObjectMetadata"]);
    expect(nameOf(first?.fields.get(1)?.[0])).toBe("seen");
  });

  test("metadata only is available in protobuf, also for custom resources", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "partial", labels: { only: "pb" } } });
    const path = await defineResource(subject.api, "Crate", { namespace: NAMESPACE });
    await subject.api.create(path, { apiVersion: "crate.example.com/v1", kind: "Crate", metadata: { name: "custom" } });

    const one = openDocument((await get(`${CONFIG_MAPS}/partial`, METADATA)).bytes);
    const list = openDocument((await get(`${CONFIG_MAPS}?labelSelector=only=pb`, METADATA_LIST)).bytes);
    const custom = openDocument((await get(path, METADATA_LIST)).bytes);

    expect([one.apiVersion, one.kind, nameOf(one.fields.get(1)?.[0])]).toEqual([
      "meta.k8s.io/v1",
      "PartialObjectMetadata",
      "partial",
    ]);
    expect([list.kind, list.fields.get(2)?.length]).toEqual(["PartialObjectMetadataList", 1]);
    expect([custom.kind, custom.fields.get(2)?.length]).toEqual(["PartialObjectMetadataList", 1]);
  });

  test("whole custom resources have no protobuf form", async () => {
    const path = await defineResource(subject.api, "Barrel", { namespace: NAMESPACE });

    const rejected = await get(path);
    const fallback = await get(path, `${PROTOBUF},application/json`);

    expect([rejected.status, rejected.headers["content-type"]]).toEqual([406, PROTOBUF]);
    expect(codec.decode(rejected.bytes)).toMatchObject({ kind: "Status", code: 406, reason: "NotAcceptable" });
    expect([fallback.status, fallback.headers["content-type"]]).toEqual([200, "application/json"]);
  });

  test("a table has no protobuf form", async () => {
    const table = ";as=Table;g=meta.k8s.io;v=v1";
    const rejected = await get(CONFIG_MAPS, `${PROTOBUF}${table}`);
    const fallback = await get(CONFIG_MAPS, `${PROTOBUF}${table},application/json${table}`);

    expect(rejected.status).toBe(406);
    expect(fallback.body.kind).toBe("Table");
  });

  test("failures and the result of a deletion are a Status in protobuf", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "gone" } });

    const deleted = await subject.api.request("DELETE", `${CONFIG_MAPS}/gone`, { headers: { accept: PROTOBUF } });
    const missing = await get(`${CONFIG_MAPS}/gone`);

    expect(codec.decode(deleted.bytes)).toMatchObject({ kind: "Status", status: "Success", details: { name: "gone" } });
    expect([missing.status, missing.headers["content-type"]]).toEqual([404, PROTOBUF]);
    expect(codec.decode(missing.bytes)).toMatchObject({
      reason: "NotFound",
      details: { name: "gone", kind: "configmaps" },
    });
  });

  test("reviews and scales are returned in protobuf", async () => {
    const review = await subject.api.create(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: { nonResourceAttributes: { path: "/", verb: "get" } } },
      { accept: PROTOBUF },
    );
    await subject.api.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
      metadata: { name: "scaled" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "scaled" } },
        template: { metadata: { labels: { app: "scaled" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    });
    const scale = await get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/scaled/scale`);

    expect(codec.decode(review.bytes)).toMatchObject({ kind: "SelfSubjectAccessReview", status: { allowed: true } });
    expect(codec.decode(scale.bytes)).toMatchObject({ kind: "Scale", metadata: { name: "scaled" } });
  });

  test("discovery is available in protobuf, in both formats", async () => {
    const groups = openDocument((await get("/apis")).bytes);
    const resources = openDocument((await get("/apis/apps/v1")).bytes);
    const aggregated = await get("/apis", `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`);

    const deployments = (resources.fields.get(2) ?? [])
      .map(fieldsOf)
      .find((row) => row.get(1)?.[0]?.toString() === "deployments");
    expect(groups.kind).toBe("APIGroupList");
    expect([resources.kind, deployments?.get(3)?.[0]?.toString()]).toEqual(["APIResourceList", "Deployment"]);
    expect(
      fieldsOf(deployments?.get(4)?.[0] ?? Buffer.alloc(0))
        .get(1)
        ?.map(String),
    ).toContain("watch");
    expect(aggregated.headers["content-type"]).toBe(`${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`);
    expect(openDocument(aggregated.bytes).kind).toBe("APIGroupDiscoveryList");
  });

  test("OpenAPI v3 is available in protobuf", async () => {
    const type = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    const { status, headers, bytes } = await get("/openapi/v3/apis/apps/v1", type);

    const document = fieldsOf(bytes);
    expect([status, headers["content-type"]]).toEqual([200, type]);
    expect(document.get(1)?.[0]?.toString()).toBe("3.0.0");
    const paths = fieldsOf(document.get(4)?.[0] ?? Buffer.alloc(0)).get(1) ?? [];
    expect(paths.map((path) => fieldsOf(path).get(1)?.[0]?.toString())).toContain(
      "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
    );
  });
});
