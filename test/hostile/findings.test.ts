/** Inputs that the fuzzer found, kept unchanged. */
import { beforeAll, expect, test } from "vitest";
import { createCore, type Core, type CoreRequest } from "../../tools/fuzz/core.ts";

let core: Core;
beforeAll(async () => {
  core = await createCore();
});

const JSON_BODY = { "content-type": "application/json" };
const post = (path: string, body: string, headers: Record<string, string> = JSON_BODY): CoreRequest => ({
  method: "POST",
  path,
  headers,
  body,
});
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps?dryRun=All";
const DEEP = 900;

const found: Record<string, { request: CoreRequest; code: number; says?: string }> = {
  "a PriorityClass without a name": {
    request: post("/apis/scheduling.k8s.io/v1/priorityclasses", "{}"),
    code: 422,
    says: "metadata.name: Required value",
  },
  "a Cluster without a name": {
    request: post("/apis/cluster.karmada.io/v1alpha1/clusters", "{}"),
    code: 422,
    says: "metadata.name: Required value",
  },
  "a CronJob without a name": {
    request: post("/apis/batch/v1/namespaces/default/cronjobs", "{}"),
    code: 422,
    says: "metadata.name: Required value",
  },
  "a number out of range": {
    request: post(CONFIG_MAPS, '{"metadata":{"name":"a"},"immutable":1e400}'),
    code: 400,
    says: "cannot unmarshal number 1e400",
  },
  "a patch with a number out of range": {
    request: {
      method: "PATCH",
      path: "/api/v1/namespaces/default?dryRun=All",
      headers: { "content-type": "application/merge-patch+json" },
      body: '{"metadata":{"generation":1e400}}',
    },
    code: 400,
    says: "cannot unmarshal number 1e400",
  },
  "a key repeated nine thousand times in a nested object": {
    request: post(
      CONFIG_MAPS,
      `{"metadata":{"name":"a"},"x":${'{"a":'.repeat(DEEP)}{${'"a":1,'.repeat(9_000)}"a":1}${"}".repeat(DEEP)}}`,
    ),
    code: 201,
  },
  "a thousand owner references": {
    request: post(
      CONFIG_MAPS,
      JSON.stringify({
        metadata: {
          name: "a",
          ownerReferences: Array.from({ length: 1_000 }, (_, index) => ({
            apiVersion: "v1",
            kind: "Pod",
            name: `p${index}`,
            uid: `u${index}`,
          })),
        },
      }),
    ),
    code: 201,
  },
  "managedFields whose elements are not JSON": {
    request: post(
      CONFIG_MAPS,
      JSON.stringify({
        metadata: {
          name: "a",
          managedFields: [
            {
              manager: "m",
              operation: "Update",
              apiVersion: "v1",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { 'k:{"name":m}': {}, "v:x": {}, 'v:"y"': {} } },
            },
          ],
        },
      }),
    ),
    code: 201,
  },
  "a policy with an object instead of a list": {
    request: post(
      "/apis/policy.karmada.io/v1alpha1/namespaces/default/overridepolicies",
      '{"apiVersion":"policy.karmada.io/v1alpha1","kind":"OverridePolicy","metadata":{"name":"a"},"spec":{"overrideRules":{"a":1}}}',
    ),
    code: 400,
    says: "overrideRules",
  },
  "a media type without a type": { request: post(CONFIG_MAPS, "{}", { "content-type": ";charset=utf-8" }), code: 415 },
  "YAML with half a surrogate pair": {
    request: post(CONFIG_MAPS, 'metadata: {name: a}\ndata: {"a": "\\ud800"}\n', { "content-type": "application/yaml" }),
    code: 201,
    says: "\uFFFD",
  },
  "YAML with a number out of range, which is a string": {
    request: post(CONFIG_MAPS, "metadata: {name: a}\ndata: {a: 1e999}\n", { "content-type": "application/yaml" }),
    code: 201,
    says: '"a":"1e999"',
  },
};
for (const [what, { request, code, says = "" }] of Object.entries(found)) {
  test(`${what}: ${code}, without an internal error`, async () => {
    const start = process.cpuUsage();

    const { status, text, failures } = await core.send(request);

    const { user, system } = process.cpuUsage(start);
    expect(failures).toEqual([]);
    expect(status).toBe(code);
    expect(text).toContain(says);
    expect((user + system) / 1e6).toBeLessThan(5);
  });
}
