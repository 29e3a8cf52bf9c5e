import { describe, expect, test } from "vitest";
import { MERGE, createTestServer, makeConfigMap } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const JSON_PATCH = { "content-type": "application/json-patch+json" };
const YAML = { "content-type": "application/yaml" };

describe("strict validation reports unknown and duplicate fields in order", () => {
  const cases: Record<string, { text: string; headers?: Record<string, string>; want: string }> = {
    "of a JSON body": {
      text: '{"x":{"q":1,"q":2},"metadata":{"name":"m","y":1,"name":"m"},"data":{"a":"1","a":"2"}}',
      want: 'strict decoding error: unknown field "x", unknown field "metadata.y", duplicate field "metadata.name", duplicate field "data.a"',
    },
    "of a YAML body, with duplicate keys first": {
      text: "metadata: {name: m}\ndata:\n  a: b\n  a: c\nfoo: 1\n",
      headers: YAML,
      want: 'strict decoding error: yaml: unmarshal errors:\n  line 4: key "a" already set in map, unknown field "foo"',
    },
  };
  for (const [behaviour, { text, headers, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();

      const { status, body } = await request("POST", `${CONFIG_MAPS}?fieldValidation=Strict`, text, headers);

      expect([status, body.message]).toEqual([
        400,
        `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${want}`,
      ]);
    });
  }

  test("strict validation reports unknown and duplicate fields in order of the operations of a JSON patch", async () => {
    const { request } = await createTestServer();
    await request("POST", CONFIG_MAPS, makeConfigMap("m"));

    const { status, body } = await request(
      "PATCH",
      `${CONFIG_MAPS}/m?fieldValidation=Strict`,
      '[{"op":"add","path":"/data/b","value":"1","foo":1,"op":"add"}]',
      JSON_PATCH,
    );

    expect(status).toBe(422);
    expect(body.message).toContain(
      'strict decoding error: json patch unknown field "[0].foo", json patch duplicate field "[0].op"',
    );
  });
});

test("the second value of a duplicate field is merged into the first", async () => {
  const { request } = await createTestServer();

  const { body, headers } = await request(
    "POST",
    CONFIG_MAPS,
    '{"metadata":{"name":"m"},"data":{"a":"1","k":"x"},"data":{"a":"2"}}',
  );

  expect(body.data).toEqual({ a: "2", k: "x" });
  expect(headers["warning"]).toEqual(['299 - "duplicate field \\"data\\""']);
});

test("a patch is rejected with the decoding error of its result", async () => {
  const { request } = await createTestServer();
  await request("POST", CONFIG_MAPS, makeConfigMap("m"));

  const { status, body } = await request("PATCH", `${CONFIG_MAPS}/m`, { data: { a: 5 } }, MERGE);

  expect(status).toBe(422);
  expect(body.details).toEqual({
    causes: [
      {
        reason: "FieldValueInvalid",
        field: "patch",
        message: expect.stringMatching(
          /: json: cannot unmarshal number into Go struct field ConfigMap.data of type string$/,
        ),
      },
    ],
  });
});

test("an undecodable body is reported before the missing object", async () => {
  const { request } = await createTestServer();

  const { status } = await request("PUT", `${CONFIG_MAPS}/nope`, { metadata: { name: "nope" }, data: 5 });

  expect(status).toBe(400);
});
