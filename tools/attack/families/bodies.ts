/** Large and hostile request bodies, by accounts with few permissions (A3, A4, and the rows of bodies in section 7). */
import { setTimeout as delay } from "node:timers/promises";
import { countStatuses, runAttempts, statusOf, verdictOf, type Attack, type Attempt } from "../attack.ts";
import { must, type World } from "../world.ts";
import { REVIEWS, waitingBodies } from "./waiting-bodies.ts";
import type { Api } from "../../../test/programs/raw-client.ts";

const YAML = "application/yaml";
const keys = (count: number, prefix = "k"): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, "x"]));
const strings = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** Sends a body again and again for a while, with several requests at once. */
async function flood(
  { isShort, signal }: World,
  send: () => Promise<{ status: number }>,
  expected: readonly number[],
  what: string,
): ReturnType<Attack["run"]> {
  const parallel = isShort ? 4 : 8;
  const end = performance.now() + (isShort ? 600 : 8_000);
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() < end && !signal.aborted) statuses.push(await statusOf(send()));
    }),
  );
  const wrong = statuses.filter((status) => !expected.includes(status));
  const tried = `${what}, ${parallel} at a time for ${isShort ? 0.6 : 8} s`;
  return verdictOf(tried, wrong.length > 0 ? [countStatuses(wrong)] : [], countStatuses(statuses));
}

interface Flood extends Pick<Attack, "claim" | "short"> {
  path: (namespace: string) => string;
  body: () => string;
  expected: readonly number[];
  type?: string;
  method?: string;
}

/** An attack that floods the hub with one body, by an account with the role `edit` in its namespace. */
const floodOf = (name: string, { claim, short, ...sending }: Flood): Attack => ({
  name: `bodies/${name}`,
  claim,
  short,
  async run(world) {
    const { path, body, expected, type = "application/json", method = "POST" } = sending;
    const { api, namespace } = await world.account({ role: "edit" });
    const sent = Buffer.from(body());
    const request = (): Promise<{ status: number }> =>
      api.request(method, path(namespace), { body: sent, headers: { "content-type": type } });
    return flood(world, request, [...expected, 429], `${(sent.length / 1e6).toFixed(1)} MB to ${path("NAMESPACE")}`);
  },
});

const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const dryConfigMaps = (namespace: string): string => `${configMaps(namespace)}?dryRun=All`;
const dryPods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods?dryRun=All`;

const floods: readonly Attack[] = [
  floodOf("labels", {
    claim: "an object with 100,000 labels is rejected, and delays no other client",
    path: dryConfigMaps,
    body: () => JSON.stringify({ metadata: { name: "a", labels: keys(100_000) } }),
    expected: [413, 422],
    short: true,
  }),
  floodOf("labels-below-the-count", {
    claim: "9,900 labels, which are too many but few enough to be decoded, delay no other client",
    path: dryConfigMaps,
    body: () => JSON.stringify({ metadata: { name: "a", labels: keys(9_900, "label-with-a-long-name-") } }),
    expected: [422],
  }),
  floodOf("finalizers", {
    claim: "an object with 50,000 finalizers is rejected, and delays no other client",
    path: dryConfigMaps,
    body: () => JSON.stringify({ metadata: { name: "a", finalizers: strings(50_000, "example.com/f") } }),
    expected: [413, 422],
  }),
  floodOf("env", {
    claim: "a pod with 15,000 environment variables delays no other client",
    path: dryPods,
    body: () =>
      JSON.stringify({
        metadata: { name: "a" },
        spec: {
          containers: [{ name: "a", image: "a", env: strings(15_000, "K").map((name) => ({ name, value: "v" })) }],
        },
      }),
    expected: [201, 413],
    short: true,
  }),
  floodOf("env-without-names", {
    claim: "a pod with 60,000 errors delays no other client",
    path: dryPods,
    body: () =>
      JSON.stringify({
        metadata: { name: "a" },
        spec: { containers: [{ name: "a", image: "a", env: strings(20_000, "").map(() => ({ name: "" })) }] },
      }),
    expected: [422, 413],
  }),
  floodOf("containers-with-errors", {
    claim: "a pod with thousands of invalid containers delays no other client",
    path: dryPods,
    body: () =>
      JSON.stringify({
        metadata: { name: "a" },
        spec: { containers: strings(9_000, "_").map((name) => ({ name, image: "", ports: [{ containerPort: -1 }] })) },
      }),
    expected: [422, 413],
  }),
  floodOf("data", {
    claim: "ConfigMaps of 1.4 MB with 9,900 keys delay no other client",
    path: dryConfigMaps,
    body: () => {
      const text = "x".repeat(120);
      return JSON.stringify({
        metadata: { name: "a" },
        data: Object.fromEntries(strings(9_900, "k").map((key) => [key, text])),
      });
    },
    expected: [201, 413, 422],
  }),
  floodOf("unknown-values", {
    claim: "65,000 unknown values in 2.9 MB delay no other client",
    path: dryPods,
    body: () =>
      JSON.stringify({
        metadata: { name: "a" },
        unknown: strings(6_500, "").map((_, at) => keys(9, `${at}-padding-to-make-keys-long-`)),
      }),
    expected: [413, 422],
  }),
  floodOf("yaml", {
    claim: "YAML of 60,000 lines delays no other client",
    path: dryConfigMaps,
    type: YAML,
    body: () =>
      `metadata: {name: a}\ndata:\n${strings(9_900, "k")
        .map((key) => `  ${key}: |\n    a\n    b\n    c\n    d\n`)
        .join("")}`,
    expected: [201, 413, 422],
  }),
  floodOf("repeated-keys", {
    claim: "a body of repeated keys delays no other client",
    path: dryConfigMaps,
    body: () => `{"metadata":{"name":"a"},"data":{${'"a":"b",'.repeat(60_000)}"a":"b"}}`,
    expected: [201, 413],
  }),
];

const unknownFields: Attack = {
  name: "bodies/unknown-fields",
  claim: "an account without permissions cannot stall the hub with reviews of 180,000 unknown fields (A3)",
  short: true,
  async run(world) {
    const { api } = await world.account();
    const body = Buffer.from(JSON.stringify({ spec: keys(180_000) }));
    const send = (): Promise<{ status: number }> => api.create(`${REVIEWS}?fieldValidation=Strict`, body);
    return flood(world, send, [413, 429], "reviews of 2 MB with 180,000 unknown fields");
  },
};

const reviewsBelowTheCount: Attack = {
  name: "bodies/unknown-fields-below-the-count",
  claim: "an account without permissions cannot stall the hub with reviews of 60,000 unknown fields",
  async run(world) {
    const { api } = await world.account();
    const spec = Object.fromEntries(strings(7, "part").map((part) => [part, keys(9_000, `${part}-key-`)]));
    const body = Buffer.from(JSON.stringify({ spec }));
    const send = (): Promise<{ status: number }> => api.create(`${REVIEWS}?fieldValidation=Strict`, body);
    return flood(world, send, [400, 413, 429], "reviews with 63,000 unknown fields");
  },
};

const dryRuns: Attack = {
  name: "bodies/dry-runs",
  claim: "dry runs of many requests, also with responses that are not read, take neither memory nor time of others",
  short: true,
  async run(world) {
    const { api, namespace, token } = await world.account({ role: "edit" });
    const large = { metadata: { name: "large" }, data: { text: "x".repeat(1_000_000) } };
    await must(api.create(configMaps(namespace), large));
    const requestsOf = (count: number, name: string): Buffer => {
      const get = JSON.stringify({ method: "GET", path: `${configMaps(namespace)}/${name}` });
      return Buffer.from(`{"requests":[${Array(count).fill(get).join(",")}]}`);
    };
    const statuses: number[] = [];
    const send = async (body: Buffer): Promise<void> =>
      void statuses.push(await statusOf(api.create("/dry-run", body)));
    await send(Buffer.from(`{"requests":[${"{},".repeat(10_000_000)}{}]}`));
    await send(requestsOf(300_000, "large"));
    await send(requestsOf(1_000, "large"));
    await Promise.all(Array.from({ length: world.isShort ? 4 : 30 }, () => send(requestsOf(5_000, "none"))));
    const unread = requestsOf(60, "large");
    const sockets = await Promise.all(Array.from({ length: world.isShort ? 4 : 40 }, () => world.socket()));
    for (const socket of sockets) {
      socket.pause();
      socket.write(
        `POST /dry-run HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\ncontent-length: ${unread.length}\r\n\r\n`,
      );
      socket.write(unread);
    }
    await delay(world.isShort ? 500 : 8_000);
    const odd = statuses.filter((status) => ![200, 413, 429].includes(status));
    return verdictOf(
      "dry runs with millions of values, with 300,000 requests, with responses of 1 GB, at the same time, and unread",
      odd.length > 0 ? [countStatuses(odd)] : [],
      countStatuses(statuses),
    );
  },
};

const DEPLOYMENT = {
  metadata: { name: "grows" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "grows" } },
    template: { metadata: { labels: { app: "grows" } }, spec: { containers: [{ name: "a", image: "a" }] } },
  },
};

const growth: Attack = {
  name: "bodies/growth",
  claim: "no patch makes an object larger than 1.5 MiB, and small patches of a large one stay cheap (A4)",
  short: true,
  async run(world) {
    const { api, namespace } = await world.account({ role: "edit" });
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await must(api.create(deployments, DEPLOYMENT));
    const statuses: number[] = [];
    for (let round = 0; round < (world.isShort ? 4 : 12); round++)
      statuses.push(await statusOf(api.patch("json", `${deployments}/grows`, [largeAnnotation(round)])));
    for (let round = 0; round < (world.isShort ? 5 : 40); round++)
      statuses.push(
        await statusOf(api.patch("merge", `${deployments}/grows`, { metadata: { labels: { round: `${round}` } } })),
      );
    const { bytes } = await api.get(`${deployments}/grows`);
    const failures = bytes.length > MAX_OBJECT_BYTES ? [`the object has ${bytes.length} bytes`] : [];
    return verdictOf(
      "JSON patches of 1 MB on one Deployment, then small patches",
      failures,
      `${bytes.length} bytes; ${countStatuses(statuses)}`,
    );
  },
};
const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024 + 10_000;
const largeAnnotation = (round: number): object => ({
  op: "add",
  path: `/spec/template/spec/containers/0/args`,
  value: ["x".repeat(1_000_000 + round * 100_000)],
});

const aliases = (levels: number): string =>
  Array.from(
    { length: levels },
    (_, level) =>
      `a${level}: &a${level} [${Array(9)
        .fill(level === 0 ? "x" : `*a${level - 1}`)
        .join(", ")}]`,
  ).join("\n");
const nested = (open: string, close: string, depth: number): string =>
  `{"x":${open.repeat(depth)}1${close.repeat(depth)}}`;
const PROTOBUF_PREFIX = Buffer.from([0x6b, 0x38, 0x73, 0]);

const bombs: Attack = {
  name: "bodies/bombs",
  claim: "deep, expanding, duplicated and malformed bodies are rejected",
  short: true,
  async run(world) {
    const { api, namespace } = await world.account({ role: "edit" });
    const path = dryConfigMaps(namespace);
    await must(api.create(configMaps(namespace), { metadata: { name: "victim" }, data: { a: "x" } }));
    const victim = `${configMaps(namespace)}/victim?dryRun=All`;
    return runAttempts("bodies that are deep, expand, repeat or are malformed", bombAttempts(api, path, victim));
  },
};

function bombAttempts(api: Api, path: string, victim: string): Attempt[] {
  const post = (
    what: string,
    body: string | Buffer,
    type = "application/json",
    expected?: readonly number[],
  ): Attempt => ({
    what,
    send: () => api.request("POST", path, { body, headers: { "content-type": type } }),
    expected,
  });
  const patch = (what: string, type: string, body: string, expected?: readonly number[]): Attempt => ({
    what,
    send: () => api.request("PATCH", victim, { body, headers: { "content-type": type } }),
    expected,
  });
  const copies = Array.from({ length: 30 }, () => ({ op: "copy", from: "/data", path: "/data/a" }));
  return [
    ...[1_001, 60_000, 400_000].map((depth) => post(`${depth} lists`, nested("[", "]", depth))),
    ...[1_001, 60_000].map((depth) => post(`${depth} objects`, nested('{"a":', "}", depth))),
    ...[9, 30, 1_000].map((levels) => post(`YAML aliases of ${levels} levels`, aliases(levels), YAML)),
    post("YAML that contains itself", "a: &a\n  b: *a\n", YAML),
    post("deep YAML", `a: ${"[".repeat(100_000)}`, YAML),
    post("deep indented YAML", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"), YAML),
    post("a number out of range", '{"metadata":{"name":"a"},"immutable":1e400}'),
    post("bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])),
    post("NUL", "\u0000".repeat(1_000)),
    post("half a body", '{"metadata":{"name":'),
    post(
      "random protobuf",
      Buffer.concat([PROTOBUF_PREFIX, Buffer.alloc(100_000, 0xff)]),
      "application/vnd.kubernetes.protobuf",
    ),
    post(
      "protobuf of nested messages",
      Buffer.concat([PROTOBUF_PREFIX, Buffer.alloc(100_000, 0x0a)]),
      "application/vnd.kubernetes.protobuf",
    ),
    patch("a JSON patch that copies itself", "application/json-patch+json", JSON.stringify(copies)),
    patch(
      "a JSON patch of 10,001 operations",
      "application/json-patch+json",
      JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "x" }))),
    ),
    patch(
      "a JSON patch with a long path",
      "application/json-patch+json",
      JSON.stringify([{ op: "add", path: `/data/${"a/".repeat(100_000)}b`, value: 1 }]),
    ),
    patch(
      "a JSON patch with a large index",
      "application/json-patch+json",
      JSON.stringify([{ op: "add", path: "/metadata/finalizers/99999999999", value: "x" }]),
    ),
    patch("an apply that expands", "application/apply-patch+yaml", aliases(30)),
    patch("a merge patch of 60,000 levels", "application/merge-patch+json", nested('{"a":', "}", 60_000)),
  ];
}

const pollution: Attack = {
  name: "bodies/prototype-pollution",
  claim: "no body changes the prototype of the hub's objects",
  short: true,
  async run(world) {
    const { api, namespace } = await world.account({ role: "edit" });
    const maps = configMaps(namespace);
    await must(api.create(maps, { metadata: { name: "victim" }, data: {} }));
    const polluting = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}';
    const send = (method: string, path: string, type: string, body: string): Promise<{ status: number }> =>
      api.request(method, path, { body, headers: { "content-type": type } });
    const statuses = [
      await statusOf(
        send(
          "POST",
          maps,
          "application/json",
          `{"metadata":{"name":"p1",${polluting}},"data":{${polluting.replaceAll(/:\{.*?\}+/g, ':"x"')}}}`,
        ),
      ),
      await statusOf(
        send("PATCH", `${maps}/victim`, "application/merge-patch+json", `{${polluting},"data":{"__proto__":"x"}}`),
      ),
      await statusOf(send("PATCH", `${maps}/victim`, "application/strategic-merge-patch+json", `{${polluting}}`)),
      await statusOf(
        send(
          "PATCH",
          `${maps}/victim`,
          "application/json-patch+json",
          '[{"op":"add","path":"/__proto__/polluted","value":"yes"},{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
        ),
      ),
      await statusOf(
        send(
          "PATCH",
          `${maps}/victim?fieldManager=a`,
          "application/apply-patch+yaml",
          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"victim"},${polluting}}`,
        ),
      ),
    ];
    await must(api.create(maps, { metadata: { name: "clean" }, data: { a: "b" } }));
    const { text } = await api.get(`${maps}/clean`);
    return verdictOf(
      "__proto__ and constructor in a create and in four kinds of patch",
      text.includes("polluted") ? [text.slice(0, 200)] : [],
      countStatuses(statuses),
    );
  },
};

const mutated: Attack = {
  name: "bodies/mutated-manifests",
  claim: "fields with values of wrong types are rejected or stored, and are never an internal error",
  short: true,
  async run(world) {
    const manifests: Record<string, object> = {
      "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works": {
        apiVersion: "work.karmada.io/v1alpha1",
        kind: "Work",
        metadata: { name: "mutated" },
        spec: {
          workload: {
            manifests: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "mutated", namespace: "default" } }],
          },
        },
      },
      "/apis/rbac.authorization.k8s.io/v1/clusterroles": {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "mutated" },
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      },
      "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies": {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: { name: "mutated" },
        spec: {
          resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
          placement: { clusterAffinity: { clusterNames: ["member1"] } },
        },
      },
      "/apis/apps/v1/namespaces/default/deployments": { apiVersion: "apps/v1", kind: "Deployment", ...DEPLOYMENT },
      "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placements": {
        apiVersion: "cluster.open-cluster-management.io/v1beta1",
        kind: "Placement",
        metadata: { name: "mutated" },
        spec: {
          numberOfClusters: 1,
          predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { a: "b" } } } }],
        },
      },
    };
    const attempts = Object.entries(manifests).flatMap(([path, manifest]) =>
      mutationsOf(manifest).map(({ what, body }) => ({
        what: `${path.split("/").at(-1)} ${what}`,
        send: () => world.admin.create(`${path}?dryRun=All`, body),
        expected: [200, 201, 400, 404, 409, 413, 415, 422],
      })),
    );
    return runAttempts(`${attempts.length} manifests with one field replaced, as dry runs`, attempts);
  },
};

const WRONG_VALUES: readonly unknown[] = [
  7,
  "",
  "\u0000",
  null,
  [],
  {},
  [null],
  true,
  -1e308,
  { a: { b: 1 } },
  "x".repeat(3_000),
];

/** Each field in turn is replaced by each wrong value. */
function mutationsOf(value: object): { what: string; body: unknown }[] {
  return pathsOf(value).flatMap((path) =>
    WRONG_VALUES.map((wrong) => {
      const copy = structuredClone(value) as Record<string, unknown>;
      const parent = path
        .slice(0, -1)
        .reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy);
      parent[path.at(-1) ?? ""] = wrong;
      return { what: `${path.join(".")} = ${JSON.stringify(wrong)?.slice(0, 20)}`, body: copy };
    }),
  );
}

function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsOf(inner).map((rest) => [key, ...rest])]);
}

export const bodies: readonly Attack[] = [
  unknownFields,
  reviewsBelowTheCount,
  ...floods,
  dryRuns,
  waitingBodies,
  growth,
  bombs,
  pollution,
  mutated,
];
