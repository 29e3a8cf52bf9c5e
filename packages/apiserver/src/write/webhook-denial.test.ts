import { expect, test } from "vitest";
import { ConfigMap, kubernetesAdmissions } from "@flotilla/kubernetes";
import type { AnyAdmission, FieldError, Operation } from "@flotilla/apimachinery";
import { createTestServer, makeConfigMap } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const problem = (field: string): FieldError => ({ type: "Forbidden", field, message: "Forbidden: no" });

function webhook(name: string, on: Operation[], problems: FieldError[], asked: string[] = []): AnyAdmission {
  return {
    name,
    for: ConfigMap,
    on,
    webhook: { name, code: (operation) => (operation === "CREATE" ? 500 : 422) },
    validate: () => {
      asked.push(name);
      return problems;
    },
  };
}

test("a rule that is a webhook upstream denies with its name and code, and without a reason", async () => {
  const { request } = await createTestServer({
    admissions: [...kubernetesAdmissions, webhook("vmap.kb.io", ["CREATE"], [problem("data.a"), problem("data.b")])],
  });

  const { status, body } = await request("POST", CONFIG_MAPS, makeConfigMap("m"));

  expect(status).toBe(500);
  expect(body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'admission webhook "vmap.kb.io" denied the request: [data.a: Forbidden: no, data.b: Forbidden: no]',
    code: 500,
  });
});

test("the first webhook that denies ends the request", async () => {
  const asked: string[] = [];
  const { request } = await createTestServer({
    admissions: [
      ...kubernetesAdmissions,
      webhook("one", ["CREATE"], [problem("data")], asked),
      webhook("two", ["CREATE"], [], asked),
    ],
  });

  await request("POST", CONFIG_MAPS, makeConfigMap("m"));

  expect(asked).toEqual(["one"]);
});

test("webhooks do not run on objects that the server itself rejects", async () => {
  const asked: string[] = [];
  const { request } = await createTestServer({
    admissions: [...kubernetesAdmissions, webhook("one", ["CREATE"], [], asked)],
  });

  const { status } = await request("POST", CONFIG_MAPS, { ...makeConfigMap("m"), data: { "not/a/key": "1" } });

  expect({ status, asked }).toEqual({ status: 422, asked: [] });
});

test("a webhook can deny a deletion", async () => {
  const { request } = await createTestServer({
    admissions: [...kubernetesAdmissions, webhook("vmap.kb.io", ["DELETE"], [problem("metadata.labels")])],
  });
  await request("POST", CONFIG_MAPS, makeConfigMap("m"));

  const { status, body } = await request("DELETE", `${CONFIG_MAPS}/m`);

  expect(status).toBe(422);
  expect(body.message).toBe('admission webhook "vmap.kb.io" denied the request: metadata.labels: Forbidden: no');
});
