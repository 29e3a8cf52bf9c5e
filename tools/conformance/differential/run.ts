/**
 * `bin/node24 tools/conformance/differential/run.ts`: sends the same random requests to a real kube-apiserver and to
 * Flotilla, and prints where the responses differ. Every case starts from an object of the recordings and changes it; the
 * same seed gives the same cases.
 */
import type { IncomingMessage } from "node:http";
import https from "node:https";
import { parseArgs } from "node:util";
import { createProtobufCodec, formatApiVersion, parseYaml } from "@flotilla/apimachinery";
import type { Schema } from "@flotilla/apimachinery";
import { isObject, messageOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { realBinaries, startKube } from "../../../test/programs/kube.ts";
import { Chance, seedOf } from "../../fuzz/chance.ts";
import { listRecordings, readRecording } from "../../golden/golden.ts";
import { startPlayServer } from "../../golden/runners/apiserver/server.ts";
import type { Scenario } from "../../golden/runners/apiserver/scenario.ts";
import { jsonPatch, mergePatch, mutated } from "./mutate.ts";
import { differenceOf, normalised, signatureOf } from "./normalise.ts";
import type { Response } from "./normalise.ts";

const USAGE = `Usage: bin/node24 tools/conformance/differential/run.ts [--count N] [--seed S] [--kubeconfig FILE] [--focus KIND] [--all]

  --count N          how many cases (default 500); each is three to seven requests
  --seed S           the seed of the first case (default 1)
  --kubeconfig FILE  a real API server to compare with (default: kube-apiserver and etcd of $REAL_BIN are started)
  --focus KIND       only objects of kinds that match this regular expression
  --all              every difference, not one of each form
`;
const NAMESPACE = "differential";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Sent instead of a body. */
  readonly bytes?: Uint8Array;
  readonly type?: string;
  readonly accept?: string;
}

interface Side {
  send(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** A kind in one version, with objects that the recorded server accepted. */
interface Target {
  readonly kind: string;
  readonly apiVersion: string;
  /** With the namespace, where it has one. */
  readonly collection: string;
  readonly schema: Schema;
  readonly seeds: readonly JsonObject[];
  readonly hasStatus: boolean;
}

async function main(args: readonly string[]): Promise<number> {
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        count: { type: "string", default: "500" },
        seed: { type: "string", default: "1" },
        kubeconfig: { type: "string" },
        focus: { type: "string" },
        all: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  const binaries = realBinaries();
  if (values.kubeconfig === undefined && binaries === undefined) {
    process.stderr.write("etcd and kube-apiserver are not in $REAL_BIN\n");
    return 2;
  }
  const focus = new RegExp(typeof values.focus === "string" ? values.focus : ".");
  const targets = readTargets().filter(({ kind, apiVersion }) => focus.test(`${apiVersion}/${kind}`));
  const [ours, real] = await Promise.all([startOurs(), startReal(values.kubeconfig, binaries)]);
  const seen = new Map<string, number>();
  let requests = 0;
  try {
    for (const side of [ours, real]) await prepare(side);
    for (let index = 0; index < Number(values.count); index++) {
      const seed = seedOf(Number(values.seed), index);
      const chance = new Chance(seed);
      const target = chance.pick(targets);
      const compared = async (request: Request, forOurs = request): Promise<{ real: Response; ours: Response }> => {
        requests++;
        const [theirs, own] = await Promise.all([real.send(request), ours.send(forOurs)]);
        // What a dry run creates has no version; kube-apiserver returns the one that was sent.
        const isDryCreate = request.method === "POST" && request.path.includes("dryRun=All");
        const difference = differenceOf(normalised(theirs, isDryCreate), normalised(own, isDryCreate));
        if (!difference) return { real: theirs, ours: own };
        const signature = signatureOf(target.kind, difference);
        const count = (seen.get(signature) ?? 0) + 1;
        seen.set(signature, count);
        if (count === 1 || values.all) print(index, target, request, difference);
        return { real: theirs, ours: own };
      };
      const silently = (request: Request): Promise<unknown> => Promise.all([real.send(request), ours.send(request)]);
      await playCase(chance, target, `x${index}`, Object.assign(compared, { silently }));
    }
  } finally {
    await Promise.all([ours.close(), real.close()]);
  }
  process.stdout.write(`${requests} requests in ${values.count} cases, ${seen.size} forms of differences\n`);
  return seen.size === 0 ? 0 : 1;
}

function print(
  index: number,
  { apiVersion, kind }: Target,
  { method, path, body, type }: Request,
  { path: at, real, ours }: { path: string; real: Json | undefined; ours: Json | undefined },
): void {
  const short = (value: Json | undefined): string => (JSON.stringify(value) ?? "nothing").slice(0, 900);
  process.stdout.write(
    `case ${index} ${apiVersion} ${kind}: ${method} ${path}${type === undefined ? "" : ` (${type})`}\n` +
      `  sent ${JSON.stringify(body ?? null, withoutNoise).slice(0, 1500)}\n  at   ${at}\n  real ${short(real)}\n  ours ${short(ours)}\n`,
  );
}

/** For people: what the server wrote, and long texts, say nothing about a request. */
function withoutNoise(key: string, value: unknown): unknown {
  if (key === "managedFields") return undefined;
  return typeof value === "string" && /^x{20}/.test(value) ? `x*${value.length}` : value;
}

interface Send {
  (request: Request, forOurs?: Request): Promise<{ real: Response; ours: Response }>;
  /** Without comparing the responses. */
  silently(request: Request): Promise<unknown>;
}

/** Creates an object, changes it a few times, and deletes it. */
async function playCase(chance: Chance, target: Target, name: string, send: Send): Promise<void> {
  const { collection, schema } = target;
  const seed = chance.pick(target.seeds);
  const metadata: JsonObject & { name?: string } = { ...(seed.metadata as JsonObject) };
  const fixed = target.kind === "CustomResourceDefinition" || target.kind === "APIService";
  delete metadata.generateName;
  if (!fixed) metadata.name = name;
  const base: JsonObject = { ...seed, metadata };
  const object = mutated(chance, base, schema, chance.below(5));
  const at = `${collection}/${encodeURIComponent(metadata.name ?? "")}`;
  const created = await send({ method: "POST", path: `${collection}${query(chance)}`, body: object });
  if (created.real.status !== 201 || created.ours.status !== 201) {
    await remove(chance, send, at, false);
    return;
  }
  const steps = chance.below(4);
  for (let step = 0; step < steps; step++) await change(chance, target, at, base, object, send);
  await send({ method: "GET", path: at, accept: chance.pick(REPRESENTATIONS) });
  const { real } = await send({ method: "GET", path: at, accept: PROTOBUF });
  await remove(chance, send, at, true);
  if (real.status === 200 && real.bytes)
    await send({ method: "POST", path: `${collection}?dryRun=All`, bytes: real.bytes, type: PROTOBUF });
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const protobuf = createProtobufCodec(kubernetesKinds);

const REPRESENTATIONS = [
  "application/json",
  "application/yaml",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
];

async function change(
  chance: Chance,
  target: Target,
  at: string,
  base: JsonObject,
  object: JsonObject,
  send: Send,
): Promise<void> {
  const { schema } = target;
  const next = mutated(chance, object, schema, 1 + chance.below(3));
  const sub = target.hasStatus && chance.oneIn(5) ? "/status" : "";
  switch (chance.below(6)) {
    case 0: {
      const body = mergePatch(object, next);
      await send({ method: "PATCH", path: `${at}${sub}${query(chance)}`, body, type: "application/merge-patch+json" });
      return;
    }
    case 1: {
      const body = mergePatch(object, next);
      const type = "application/strategic-merge-patch+json";
      await send({ method: "PATCH", path: `${at}${sub}${query(chance)}`, body, type });
      return;
    }
    case 2: {
      const body = jsonPatch(chance, object, schema);
      await send({ method: "PATCH", path: `${at}${sub}${query(chance)}`, body, type: "application/json-patch+json" });
      return;
    }
    case 3:
    case 4: {
      const body = mutated(chance, base, schema, chance.below(3));
      const path = `${at}${sub}?fieldManager=${chance.pick(["one", "two"])}${chance.oneIn(2) ? "&force=true" : ""}`;
      await send({ method: "PATCH", path, body, type: "application/apply-patch+yaml" });
      return;
    }
    default: {
      const { real, ours } = await send({ method: "GET", path: at });
      if (real.status !== 200 || ours.status !== 200 || !isObject(real.body) || !isObject(ours.body)) return;
      // The same changes to what each server returned.
      const change = chance.below(2 ** 31);
      const count = 1 + chance.below(3);
      const put = (body: JsonObject): Request => ({
        method: "PUT",
        path: `${at}${sub}`,
        body: mutated(new Chance(change), withoutNull(body) as JsonObject, schema, count),
      });
      await send(put(real.body), put(ours.body));
    }
  }
}

/** Go writes some empty fields as null, which means what absence means. */
function withoutNull(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNull(inner)]])),
  );
}

async function remove(chance: Chance, send: Send, at: string, isCompared: boolean): Promise<void> {
  if (isCompared && chance.oneIn(2)) {
    const body = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: chance.pick(["Background", "Foreground", "Orphan", "Sideways"]),
      gracePeriodSeconds: chance.pick([0, 1, -1]),
    };
    await send({ method: "DELETE", path: at, body });
  }
  const body = { metadata: { finalizers: null } };
  await send.silently({ method: "DELETE", path: `${at}?gracePeriodSeconds=0&propagationPolicy=Background` });
  await send.silently({ method: "PATCH", path: at, body, type: "application/merge-patch+json" });
}

function query(chance: Chance): string {
  const parts: string[] = [];
  if (chance.oneIn(2)) parts.push(`fieldValidation=${chance.pick(["Strict", "Warn", "Ignore"])}`);
  if (chance.oneIn(8)) parts.push("dryRun=All");
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** Objects of the recordings that the real server created, by their collection. */
function readTargets(): Target[] {
  const seeds = new Map<string, JsonObject[]>();
  for (const file of listRecordings(GOLDEN).filter((name) => name.startsWith("apiserver-"))) {
    for (const line of readRecording(GOLDEN, file)) {
      for (const { request, want } of (line as unknown as Scenario).steps) {
        if (request?.method !== "POST" || want?.status !== 201 || !isObject(request.body)) continue;
        const text = JSON.stringify(request.body).replaceAll("{{NS}}", NAMESPACE);
        if (text.includes("{{")) continue;
        const [path = ""] = request.path.replaceAll("{{NS}}", NAMESPACE).split("?");
        const body = JSON.parse(text) as JsonObject;
        if (!isObject(body.metadata)) continue;
        seeds.set(path, [...(seeds.get(path) ?? []), body]);
      }
    }
  }
  return kubernetesKinds.flatMap((kind) =>
    kind.verbs
      ? []
      : Object.entries(kind.versions).flatMap(([version, { schema }]): Target[] => {
          const prefix = kind.group === "" ? `/api/${version}` : `/apis/${kind.group}/${version}`;
          const home = kind.scope === "Namespaced" ? `/namespaces/${NAMESPACE}` : "";
          const collection = `${prefix}${home}/${kind.plural}`;
          const found = seeds.get(collection) ?? [];
          if (found.length === 0 || SKIPPED.has(kind.kind)) return [];
          return [
            {
              kind: kind.kind,
              apiVersion: formatApiVersion(kind.group, version),
              collection,
              schema,
              seeds: found,
              hasStatus: kind.subresources.status !== undefined,
            },
          ];
        }),
  );
}

const GOLDEN = new URL("../../../test/golden", import.meta.url).pathname;
/** Their effect on other requests would be random, or controllers write to them. */
const SKIPPED = new Set([
  "Namespace",
  "Event",
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicyBinding",
  "APIService",
  "FlowSchema",
  "ResourceQuota",
  "CustomResourceDefinition",
]);

async function startOurs(): Promise<Side> {
  const server = await startPlayServer();
  return {
    async send(request) {
      const body = bytesOf(request);
      const response = await server.send({ ...request, headers: headersOf(request, body), body });
      return readResponse(response);
    },
    close: () => server.close(),
  };
}

async function startReal(kubeconfig: string | boolean | undefined, binaries: string | undefined): Promise<Side> {
  const started = typeof kubeconfig === "string" ? undefined : await startKube(binaries ?? "");
  const file = typeof kubeconfig === "string" ? kubeconfig : (started?.kubeconfig ?? "");
  const { server, ca, cert, key, token } = await connectionOf(await loadKubeconfig(file));
  const agent = new https.Agent({ keepAlive: true, ca, cert, key });
  return {
    async send(request) {
      const body = bytesOf(request);
      const headers = headersOf(request, body);
      if (typeof token === "string") headers.authorization = `Bearer ${token}`;
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const { hostname: host, port } = server;
        const sent = https.request({ host, port, method: request.method, path: request.path, headers, agent }, resolve);
        sent.on("error", reject);
        sent.end(body);
      });
      return readResponse(response);
    },
    async close() {
      agent.destroy();
      await started?.stop();
    },
  };
}

function bytesOf({ body, bytes }: Request): Buffer | undefined {
  if (bytes) return Buffer.from(bytes);
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body));
}

function headersOf({ type = "application/json", accept = "application/json" }: Request, body: Buffer | undefined) {
  const headers: Record<string, string> = { "user-agent": "differential/1.0", accept };
  if (body) Object.assign(headers, { "content-type": type, "content-length": String(body.length) });
  return headers;
}

async function readResponse(response: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const type = response.headers["content-type"] ?? "";
  const { warning } = response.headers;
  return {
    status: response.statusCode ?? 0,
    type,
    warnings: warning === undefined ? [] : Array.isArray(warning) ? warning : [warning],
    body: read(type, bytes),
    bytes,
  };
}

/** Long lines and quotes of YAML differ; what they say is compared. */
function read(type: string, bytes: Buffer): Json {
  const text = bytes.toString();
  if (isProtobuf(bytes)) return decoded(bytes);
  if (text === "") return "";
  if (type.includes("json")) return JSON.parse(text) as Json;
  return type.includes("yaml") ? parseYaml(text) : text;
}

const isProtobuf = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString("latin1") === "k8s\0";

/** Both servers' bytes are read by the same code, which the recordings check. */
function decoded(bytes: Buffer): Json {
  try {
    return protobuf.decode(bytes);
  } catch (error) {
    return `not readable: ${messageOf(error)}`;
  }
}

/** A namespace with a service account: no controller makes one beside the real server. */
async function prepare(side: Side): Promise<void> {
  await side.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: NAMESPACE } } });
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  const { status } = await side.send({ method: "POST", path, body: { metadata: { name: "default" } } });
  if (status !== 201 && status !== 409) throw new Error(`the service account was not created: ${status}`);
}

process.exitCode = await main(process.argv.slice(2));
