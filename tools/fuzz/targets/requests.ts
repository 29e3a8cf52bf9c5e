/**
 * Whole requests to the API server's core: bodies in all formats, patches, lists with forged tokens and random options.
 */
import { ApiError, createProtobufCodec, formatYaml } from "@flotilla/apimachinery";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import type { Chance } from "../chance.ts";
import { createCore, type Core, type CoreAnswer, type CoreRequest } from "../core.ts";
import { definition, deployment, objects, schemas, widget, type CorpusObject } from "../corpus.ts";
import { mutateBytes, mutateJson, mutateText } from "../mutate.ts";
import { encodeMessage } from "../protobuf-bodies.ts";
import { defineTarget } from "../target.ts";

let opened: Promise<Core> | undefined;

/** One server for all inputs, with a custom kind and an object to patch. */
async function openCore(): Promise<Core> {
  opened ??= createCore().then(async (core) => {
    for (const object of [definition, deployment, widget]) {
      const { status, text } = await core.send({
        method: "POST",
        path: collectionOf(object),
        body: JSON.stringify(object),
      });
      if (status !== 201) throw new Error(`preparing the server: ${text}`);
    }
    return core;
  });
  return opened;
}

/** The collection of a kind; the server defines the plural, so only kinds of the corpus have one. */
function collectionOf({ apiVersion, kind, metadata }: CorpusObject): string {
  const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = PLURALS.get(kind) ?? `${kind.toLowerCase()}s`;
  return metadata.namespace !== undefined ? `${base}/namespaces/default/${plural}` : `${base}/${plural}`;
}

const PLURALS = new Map([
  ["Ingress", "ingresses"],
  ["IngressClass", "ingressclasses"],
  ["StorageClass", "storageclasses"],
  ["RuntimeClass", "runtimeclasses"],
  ["PriorityClass", "priorityclasses"],
  ["NetworkPolicy", "networkpolicies"],
  ["Endpoints", "endpoints"],
  ["PropagationPolicy", "propagationpolicies"],
  ["OverridePolicy", "overridepolicies"],
  ["ClusterOverridePolicy", "clusteroverridepolicies"],
  ["ClusterPropagationPolicy", "clusterpropagationpolicies"],
]);

/** Checks only that the response is valid: a Status for a failure, and no internal error. */
function problemOf({ status, text, failures, headers }: CoreAnswer): string | undefined {
  if (failures.length > 0)
    return (
      "internal error: " +
      failures
        .map((failure) => (isObject(failure) && (failure as { error?: Error }).error?.stack) || JSON.stringify(failure))
        .join("; ")
    );
  for (const value of Object.values(headers).flat())
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) return `invalid HTTP header: ${JSON.stringify(value)}`;
  if (status < 400 || !text.startsWith("{")) return undefined;
  const answer = JSON.parse(text) as JsonObject;
  return answer.kind === "Status" && answer.code === status
    ? undefined
    : `returned ${status} without a matching Status`;
}

const objectBody = (chance: Chance): { object: Json; path: string } => {
  const base = chance.pick(objects);
  return {
    object: mutateJson(chance, { ...base, metadata: { ...base.metadata, name: `f${chance.below(5)}` } }, objects),
    path: collectionOf(base),
  };
};

const VALIDATIONS = ["", "fieldValidation=Strict", "fieldValidation=Warn", "fieldValidation=Ignore"];

export const creates = defineTarget({
  name: "create",
  share: 0.2,
  boundMs: 3000,
  generate(chance): CoreRequest {
    const { object, path } = objectBody(chance);
    const query = `?${chance.pick(VALIDATIONS)}&dryRun=All`;
    if (chance.oneIn(4))
      return {
        method: "POST",
        path: path + query,
        headers: { "content-type": "application/yaml" },
        body: chance.oneIn(2) ? formatYaml(object) : mutateText(chance, formatYaml(object)),
      };
    const text = JSON.stringify(object);
    return {
      method: "POST",
      path: path + query,
      headers: { "content-type": "application/json" },
      body: chance.oneIn(3) ? mutateText(chance, text, ['"a":1,"a":2', '"__proto__":{}', "\\ud800"]) : text,
    };
  },
  declares: () => false,
  run: async (request) => problemOf(await (await openCore()).send(request)),
});

/** Schemas are sent as plain JSON. */
const SCHEMAS = schemas as readonly unknown[] as readonly JsonObject[];

/** Nearly valid CRDs: their schemas, names and rules. */
export const definitions = defineTarget({
  name: "definition",
  share: 0.2,
  boundMs: 3000,
  generate(chance): CoreRequest {
    const openAPIV3Schema = chance.oneIn(3) ? chance.pick(SCHEMAS) : mutateJson(chance, chance.pick(SCHEMAS), SCHEMAS);
    const versions = definition.spec.versions.map((version) => ({ ...version, schema: { openAPIV3Schema } }));
    // A different CRD than the server already has.
    const names = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };
    const made = {
      ...definition,
      metadata: { name: "gadgets.fuzz.example" },
      spec: { ...definition.spec, names, versions },
    };
    const body = JSON.stringify(chance.oneIn(2) ? made : mutateJson(chance, made, [definition]));
    return {
      method: "POST",
      path: `${collectionOf(definition)}?${chance.pick(VALIDATIONS)}&dryRun=All`,
      headers: { "content-type": "application/json" },
      body: chance.oneIn(6) ? mutateText(chance, body) : body,
    };
  },
  declares: () => false,
  run: async (request) => problemOf(await (await openCore()).send(request)),
});

/** A created object can be written back unchanged, which changes nothing. */
export const roundTrips = defineTarget({
  name: "round-trip",
  share: 0.2,
  boundMs: 5000,
  generate: (chance) => objectBody(chance),
  declares: () => false,
  async run({ object, path }) {
    const core = await openCore();
    const json = { "content-type": "application/json" };
    const made = await core.send({ method: "POST", path, headers: json, body: JSON.stringify(object) });
    const problem = problemOf(made);
    if (problem !== undefined || made.status !== 201) return problem;
    const stored = JSON.parse(made.text) as JsonObject;
    const name = isObject(stored.metadata) ? stored.metadata.name : undefined;
    if (typeof name !== "string") return undefined;
    const at = `${path}/${encodeURIComponent(name)}`;
    try {
      const read = await core.send({ method: "GET", path: at });
      // Some kinds are returned but not stored.
      if (read.status === 404 || read.status === 405) return undefined;
      if (!equalJson(JSON.parse(read.text), stored)) return `read back differently: ${read.text}`;
      const written = await core.send({ method: "PUT", path: at, headers: json, body: read.text });
      if (written.status === 405) return problemOf(written);
      if (written.status !== 200) return problemOf(written) ?? `writing the read object is rejected: ${written.text}`;
      return equalJson(JSON.parse(written.text), stored)
        ? undefined
        : `writing the read object changes it: ${read.text} -> ${written.text}`;
    } finally {
      await core.send({
        method: "PATCH",
        path: at,
        headers: { "content-type": "application/merge-patch+json" },
        body: '{"metadata":{"finalizers":null}}',
      });
      await core.send({ method: "DELETE", path: `${at}?gracePeriodSeconds=0` });
    }
  },
});

/** Fills one list or map of an object up to the maximum body size, which reveals superlinear work. */
function filled(chance: Chance, value: Json, bytes: number): Json {
  const children = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const inside = children.filter(
    (key) => typeof (value as JsonObject)[key] === "object" && (value as JsonObject)[key] !== null,
  );
  if (inside.length > 0 && !chance.oneIn(4)) {
    const key = chance.pick(inside);
    const item = filled(chance, (value as JsonObject)[key] ?? null, bytes);
    return Array.isArray(value) ? value.with(Number(key), item) : { ...(value as JsonObject), [key]: item };
  }
  const varied = !chance.oneIn(3);
  if (Array.isArray(value)) {
    const item =
      value.length > 0 && !chance.oneIn(3)
        ? chance.oneIn(2)
          ? mutateJson(chance, value[0] ?? null)
          : (value[0] ?? null)
        : chance.pick<Json>(["x", "", 1, {}, null]);
    const count = Math.floor(bytes / (JSON.stringify(item).length + 8));
    return Array.from({ length: count }, (_, index) => (varied ? numbered(item, index) : item));
  }
  const key = chance.pick(["k", "/k", "__proto__", "A.b", "a/b"]);
  const item = chance.pick<Json>(["", "x", 1, {}]);
  return Object.fromEntries(Array.from({ length: Math.floor(bytes / 16) }, (_, index) => [`${key}${index}`, item]));
}

/** A copy that differs from its neighbours where names usually are. */
function numbered(item: Json, index: number): Json {
  if (typeof item === "string") return `${item}${index}`;
  if (!isObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      typeof value === "string" && /name|key|uid|id|path|host|topologyKey/i.test(key) ? `${value}${index}` : value,
    ]),
  );
}

const LARGE_BYTES = 2_500_000;

export const largeBodies = defineTarget({
  name: "large-body",
  share: 0.001,
  boundMs: 6000,
  generate(chance): CoreRequest {
    const base = chance.pick(objects);
    const query = `?${chance.pick(VALIDATIONS)}&dryRun=All`;
    const body = filled(
      chance,
      {
        ...base,
        metadata: {
          labels: {},
          annotations: {},
          finalizers: [],
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "b", controller: true }],
          ...base.metadata,
        },
      },
      LARGE_BYTES,
    );
    return {
      method: "POST",
      path: collectionOf(base) + query,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
  },
  declares: () => false,
  run: async (request) => problemOf(await (await openCore()).send(request)),
});

const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

export const patches = defineTarget({
  name: "patch",
  share: 0.2,
  boundMs: 3000,
  generate(chance): CoreRequest {
    const base = chance.pick([deployment, widget, definition]);
    const changed = mutateJson(chance, base, objects);
    const type = chance.pick(PATCH_TYPES);
    const body = type.includes("json-patch")
      ? JSON.stringify(
          mutateJson(
            chance,
            [
              { op: "replace", path: "/spec", value: changed },
              { op: "add", path: "/metadata/labels/x", value: "y" },
            ],
            objects,
          ),
        )
      : JSON.stringify(changed);
    const path =
      `${collectionOf(base)}/${base.metadata.name}?dryRun=All&fieldManager=fuzz&${chance.pick(VALIDATIONS)}` +
      (chance.oneIn(2) && type.includes("apply") ? "&force=true" : "");
    return {
      method: "PATCH",
      path,
      headers: { "content-type": type },
      body: chance.oneIn(4) ? mutateText(chance, body) : body,
    };
  },
  declares: () => false,
  run: async (request) => problemOf(await (await openCore()).send(request)),
});

const TOKEN = Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 3, start: "default/a", n: 1 }));

function query(chance: Chance): string {
  const token = mutateBytes(chance, TOKEN);
  const options = [
    [
      "continue",
      chance.oneIn(4) ? mutateText(chance, TOKEN.toString("base64url")) : Buffer.from(token).toString("base64url"),
    ],
    ["limit", chance.pick(["1", "-1", "0", "1e3", "9999999999999999999", "x", ""])],
    ["resourceVersion", chance.pick(["", "0", "1", "-1", "18446744073709551616", "x"])],
    ["resourceVersionMatch", chance.pick(["Exact", "NotOlderThan", "x"])],
    ["labelSelector", mutateText(chance, "a in (b),c!=d")],
    ["fieldSelector", mutateText(chance, "metadata.name=a")],
    ["pretty", mutateText(chance, "true")],
    ["timeout", chance.pick(["1s", "-1s", "1h1m", "x", "9999999999h", "1e9s"])],
    ["includeObject", chance.pick(["None", "Object", "x"])],
  ];
  const search = new URLSearchParams();
  for (const [name = "", value = ""] of options) if (chance.oneIn(3)) search.append(name, value);
  return search.toString();
}

export const lists = defineTarget({
  name: "list-options",
  generate: (chance): CoreRequest => ({
    method: chance.pick(["GET", "GET", "GET", "DELETE"]),
    path: `${collectionOf(chance.pick(objects))}?${query(chance)}`,
    headers: { accept: mutateText(chance, "application/json;as=Table;g=meta.k8s.io;v=v1,application/json") },
  }),
  declares: () => false,
  async run(request) {
    const dry = request.method === "DELETE" ? { ...request, path: `${request.path}&dryRun=All` } : request;
    return problemOf(await (await openCore()).send(dry));
  },
});

const { decode: decodeProtobuf } = createProtobufCodec(kubernetesKinds);

export const protobuf = defineTarget({
  name: "protobuf",
  generate(chance) {
    const base = chance.pick(objects);
    const body = encodeMessage(chance, base);
    return chance.oneIn(3) ? body : mutateBytes(chance, body);
  },
  declares: (error) => error instanceof ApiError && error.status.code < 500,
  run(bytes) {
    const object = decodeProtobuf(bytes);
    return equalJson(JSON.parse(JSON.stringify(object)), object) ? undefined : "the object is not JSON";
  },
});

export const protobufRequests = defineTarget({
  name: "protobuf-create",
  share: 0.2,
  boundMs: 3000,
  generate(chance): CoreRequest {
    const base = chance.pick(objects);
    const body = encodeMessage(chance, base);
    return {
      method: "POST",
      path: `${collectionOf(base)}?dryRun=All`,
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
      body: chance.oneIn(4) ? body : mutateBytes(chance, body),
    };
  },
  declares: () => false,
  run: async (request) => problemOf(await (await openCore()).send(request)),
});
