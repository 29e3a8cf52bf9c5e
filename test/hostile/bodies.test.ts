/**
 * Request bodies that are broken, too large, too deep or malicious: each is rejected with a Status, over both
 * protocols, without an internal error.
 */
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Api } from "../programs/raw-client.ts";
import { openFrontDoor, TOKENS, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
});
afterEach(() => {
  expect(door.failures).toEqual([]);
});
afterAll(() => door.close());

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const YAML = "application/yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MERGE = "application/merge-patch+json";

const aliases = (levels: number): string =>
  Array.from(
    { length: levels },
    (_, level) =>
      `a${level}: &a${level} [${Array(9)
        .fill(level === 0 ? "x" : `*a${level - 1}`)
        .join(", ")}]`,
  ).join("\n");
const named = (more: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}${more}}`;

interface Case {
  body: string | Uint8Array;
  type?: string;
  method?: string;
  headers?: Record<string, string>;
  code: number;
  says: string | RegExp;
}

const refused: Record<string, Case> = {
  "truncated JSON": { body: '{"metadata":{', code: 400, says: "unexpected end of JSON input" },
  "JSON with trailing data": { body: "{} x", code: 400, says: "invalid character 'x' after top-level value" },
  "a body that is not JSON": { body: "\u0000\u0001", code: 400, says: "the object provided is unrecognized" },
  "a list instead of an object": { body: "[]", code: 400, says: "cannot unmarshal array" },
  "a number instead of an object": { body: "7", code: 400, says: "cannot unmarshal number" },
  "NaN, which is not JSON": {
    body: named(',"data":{"a":NaN}'),
    code: 400,
    says: "invalid character 'N' looking for beginning of value",
  },
  "a number out of range": {
    body: named(',"data":{"a":1e999}'),
    code: 400,
    says: "cannot unmarshal number 1e999",
  },
  "sixty thousand brackets": {
    body: `${'{"a":'.repeat(60_000)}1${"}".repeat(60_000)}`,
    code: 400,
    says: "exceeded max depth",
  },
  "deeply nested lists": {
    body: `{"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    code: 400,
    says: "exceeded max depth",
  },
  "more than 3 MiB": {
    body: named(`,"data":{"a":"${"x".repeat(3 * 1024 * 1024)}"}`),
    code: 413,
    says: "Request entity too large: limit is 3145728",
  },
  "invalid YAML": { body: "a: [1,\n  b: {", type: YAML, code: 400, says: "yaml" },
  "YAML aliases that expand exponentially": { body: aliases(10), type: YAML, code: 400, says: /excessive|alias/ },
  "recursive YAML": { body: "a: &a\n  b: *a\n", type: YAML, code: 400, says: /alias|excessive|anchor/ },
  "a hundred thousand YAML brackets": { body: `a: ${"[".repeat(100_000)}`, type: YAML, code: 400, says: "yaml" },
  "YAML tags of another language": { body: "!!js/function 'function () {}'", type: YAML, code: 400, says: "yaml" },
  "protobuf without its prefix": {
    body: named(""),
    type: PROTOBUF,
    code: 400,
    says: "does not begin with the protobuf prefix",
  },
  "truncated protobuf": {
    body: Buffer.from([0x6b, 0x38, 0x73, 0, 0x0a, 0x7f]),
    type: PROTOBUF,
    code: 400,
    says: "ends too early",
  },
  "unterminated protobuf varints": {
    body: Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0]), Buffer.alloc(1000, 0xff)]),
    type: PROTOBUF,
    code: 400,
    says: "protobuf",
  },
  "an unknown media type": { body: "<a/>", type: "text/xml", code: 415, says: "accepted media types include" },
  "an invalid media type": { body: "{}", type: ";;;=", code: 415, says: "accepted media types include" },
  "a compressed body": {
    body: gzipSync(named("")),
    headers: { "content-encoding": "gzip" },
    code: 400,
    says: /encod|unrecognized/,
  },
  "a patch that is not JSON": {
    body: "{",
    method: "PATCH",
    type: MERGE,
    code: 400,
    says: "unexpected end of JSON input",
  },
  "a patch of sixty thousand brackets": {
    body: `${"[".repeat(60_000)}${"]".repeat(60_000)}`,
    method: "PATCH",
    type: MERGE,
    code: 400,
    says: "exceeded max depth",
  },
  "an unknown patch type": {
    body: "{}",
    method: "PATCH",
    type: "application/json",
    code: 415,
    says: "Unsupported Media Type",
  },
  "a JSON patch with too many operations": {
    body: `[${Array(10_001).fill('{"op":"test","path":"/kind","value":"x"}').join(",")}]`,
    method: "PATCH",
    type: "application/json-patch+json",
    code: 413,
    says: "maximum operations",
  },
  "an applied object that expands exponentially": {
    body: aliases(10),
    method: "PATCH",
    type: "application/apply-patch+yaml",
    code: 400,
    says: /excessive|alias/,
  },
  "invalid delete options": {
    body: '{"propagationPolicy":',
    method: "DELETE",
    code: 400,
    says: "unexpected end of JSON input",
  },
};

for (const http1 of [false, true]) {
  describe(`over HTTP/${http1 ? "1.1" : "2"}`, () => {
    let api: Api;
    beforeAll(async () => {
      api = door.api({ token: TOKENS.admin, http1 });
      await api.create(CONFIG_MAPS, { metadata: { name: "a" } });
    });

    for (const [what, { body, type = "application/json", method = "POST", headers = {}, code, says }] of Object.entries(
      refused,
    )) {
      test(`${what}: ${code}`, async () => {
        const path = method === "POST" ? CONFIG_MAPS : `${CONFIG_MAPS}/a?fieldManager=x`;

        const answer = await api.request(method, path, { body, headers: { "content-type": type, ...headers } });

        expect(answer.body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code });
        expect(answer.status).toBe(code);
        expect(answer.body.message).toMatch(says);
      });
    }

    test("invalid UTF-8 is replaced, as in Go, and the stored object equals the response", async () => {
      const name = `utf8-${http1}`;

      const made = await api.create(
        CONFIG_MAPS,
        Buffer.concat([
          Buffer.from(`{"metadata":{"name":"${name}"},"data":{"a":"x`),
          Buffer.from([0xff, 0xc0, 0xaf]),
          Buffer.from('y","b":"\\ud800","c\\udc00":""}}'),
        ]),
      );
      const read = await api.get(`${CONFIG_MAPS}/${name}`);

      expect(made.status).toBe(422);
      expect(made.body.message).toContain("c\uFFFD");
      expect(read.status).toBe(404);
    });

    test("a duplicate key causes one warning, whatever its script", async () => {
      const answer = await api.create(
        `${CONFIG_MAPS}?dryRun=All`,
        `{"metadata":{"name":"twice"},"中文":1,"data":{"a":"1","a":"2"},"data":{"a":"3"}}`,
      );

      expect(answer.status).toBe(201);
      expect(answer.warnings.map((text) => Buffer.from(text, "latin1").toString())).toEqual([
        'unknown field "中文"',
        'duplicate field "data.a"',
        'duplicate field "data"',
      ]);
      expect(answer.body.data).toEqual({ a: "3" });
    });

    test("warnings stay short however long the field names are", async () => {
      const answer = await api.create(
        `${CONFIG_MAPS}?dryRun=All`,
        `{"metadata":{"name":"long"},"${"k".repeat(1_000_000)}":1}`,
      );

      expect(answer.status).toBe(201);
      expect(answer.warnings.join("").length).toBeLessThan(5000);
    });
  });
}

test("an object with more errors than a call takes arguments is rejected with a bounded message", async () => {
  const data = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`/${index}`, ""]));

  const { status, bytes, body } = await door
    .api({ token: TOKENS.admin })
    .create(CONFIG_MAPS, { metadata: { name: "wrong" }, data });

  expect(status).toBe(422);
  expect(body.message).toMatch(/and 8900 more\]$/);
  expect(bytes.length).toBeLessThan(100_000);
});

test("large bodies at the same time on one connection are all answered", async () => {
  const body = JSON.stringify({
    spec: Object.fromEntries(Array.from({ length: 180_000 }, (_, at) => [`k${at}`, "x"])),
  });
  const api = door.api({ token: TOKENS.ann });

  const answers = await Promise.all(
    Array.from({ length: 24 }, () => api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)),
  );

  expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(413));
});

describe("a body with many values", () => {
  const keys = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "x"]));
  const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const lists = (count: number): string => `{"spec":{"x":[${"{},".repeat(count)}{}]}}`;
  const yaml = (count: number): string =>
    `metadata: {name: many}\ndata:\n${Array.from({ length: count }, (_, index) => `  k${index}: x`).join("\n")}\n`;
  const cases: Record<string, { method?: string; path?: string; type?: string; body: unknown; token?: string }> = {
    "180,000 unknown fields of a review": {
      path: `${REVIEWS}?fieldValidation=Strict`,
      body: { spec: keys(180_000) },
      token: TOKENS.ann,
    },
    "100,000 empty objects of a review": { path: REVIEWS, body: lists(100_000), token: TOKENS.ann },
    "20,000 keys in one object": { body: { metadata: { name: "many" }, data: keys(20_000) } },
    "a merge patch with 20,000 keys": {
      method: "PATCH",
      path: `${CONFIG_MAPS}/any`,
      type: MERGE,
      body: { data: keys(20_000) },
    },
    "an apply with 20,000 keys": {
      method: "PATCH",
      path: `${CONFIG_MAPS}/any?fieldManager=a`,
      type: "application/apply-patch+yaml",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "any" }, data: keys(20_000) },
    },
    "YAML of 40,000 lines": { type: YAML, body: yaml(40_000) },
    "YAML with 20,000 keys in one object": { type: YAML, body: yaml(20_000) },
    "a list of 100,000 in one line of YAML": { type: YAML, body: `x: [${"1,".repeat(100_000)}1]` },
    "delete options with 20,000 keys": { method: "DELETE", path: `${CONFIG_MAPS}/any`, body: keys(20_000) },
  };
  for (const [what, { method = "POST", path = CONFIG_MAPS, type = "application/json", body, token }] of Object.entries(
    cases,
  )) {
    test(`is rejected before it is decoded: ${what}`, async () => {
      const api = door.api({ token: token ?? TOKENS.admin });

      const answer = await api.request(method, path, { body, headers: { "content-type": type } });

      expect(answer.body).toMatchObject({
        code: 413,
        reason: "RequestEntityTooLarge",
        message: expect.stringContaining("limit is 65536 values, and 10000 keys in one object") as string,
      });
    });
  }

  test("is accepted up to the limits of an object and of a body", async () => {
    const api = door.api({ token: TOKENS.admin });

    const map = await api.create(`${CONFIG_MAPS}?dryRun=All`, { metadata: { name: "many" }, data: keys(9_990) });
    const pod = await api.create("/api/v1/namespaces/default/pods?dryRun=All", {
      metadata: { name: "many" },
      spec: {
        containers: [
          {
            name: "a",
            image: "a",
            env: Array.from({ length: 15_000 }, (_, index) => ({ name: `K${index}`, value: "v" })),
          },
        ],
      },
    });

    expect([map.status, pod.status]).toEqual([201, 201]);
  });

  test.each(["labels", "annotations", "finalizers", "ownerReferences"])(
    "is rejected for more than 1000 %s with one error",
    async (name) => {
      const entries: Record<string, unknown> = {
        finalizers: Array.from({ length: 1001 }, (_, index) => `a.b/k${index}`),
        ownerReferences: Array.from({ length: 1001 }, (_, index) => ({ name: `p${index}` })),
      };

      const { body } = await door
        .api({ token: TOKENS.admin })
        .create(CONFIG_MAPS, { metadata: { name: "many", [name]: entries[name] ?? keys(1001) } });

      expect(body).toMatchObject({
        code: 422,
        details: { causes: [{ field: `metadata.${name}`, message: "Too many: 1001: must have at most 1000 items" }] },
      });
    },
  );
});

test("thousands of controller owner references do not exhaust memory", async () => {
  const ownerReferences = Array.from({ length: 10_000 }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    name: `p${index}`,
    uid: `u${index}`,
    controller: true,
  }));

  const { status, bytes } = await door
    .api({ token: TOKENS.admin })
    .create(CONFIG_MAPS, { metadata: { name: "owned", ownerReferences } });

  expect(status).toBe(422);
  expect(bytes.length).toBeLessThan(50_000_000);
});

describe("an object larger than the store takes", () => {
  const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
  const LIMIT = 1.5 * 1024 * 1024;
  const deployment = (name: string, bytes: number): object => ({
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "a", image: "a", args: ["x".repeat(bytes)] }] },
      },
    },
  });
  const args = (bytes: number): object => ({
    spec: { template: { spec: { containers: [{ name: "a", args: ["y".repeat(bytes)] }] } } },
  });

  test("is rejected when it is created, also in a dry run", async () => {
    const api = door.api({ token: TOKENS.admin });

    for (const query of ["", "?dryRun=All"]) {
      const { status, body } = await api.create(`${DEPLOYMENTS}${query}`, deployment("huge", LIMIT));
      expect([status, body]).toMatchObject([413, { kind: "Status", reason: "RequestEntityTooLarge" }]);
    }
  });

  test("is rejected when a patch would make it so, and stays as it was", async () => {
    const api = door.api({ token: TOKENS.admin });
    await api.create(DEPLOYMENTS, deployment("grows", LIMIT - 10_000));

    const grown = await api.patch("strategic", `${DEPLOYMENTS}/grows`, args(LIMIT + 10_000));
    const shrunk = await api.patch("strategic", `${DEPLOYMENTS}/grows`, args(10));

    expect(grown.body).toMatchObject({ code: 413, message: expect.stringContaining("the limit is 1572864") as string });
    expect(shrunk.status).toBe(200);
  });
});
