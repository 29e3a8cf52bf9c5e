/** API servers of one store in the middle of a replacement of the key of service account tokens. */
import { expect, test } from "vitest";
import { createMemoryEngine, createSigningKey } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const profiles = {
  hub: {
    builtIns: kubernetesKinds,
    customs: [],
    objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
  },
};

const withKeys = (engine: Engine, ...keys: string[]): Promise<TestServer> =>
  createTestServer({ engine, profiles, serviceAccounts: { signingKey: () => Promise.resolve(keys.join("\n")) } });

const issue = async ({ request }: TestServer): Promise<string> => {
  const { body } = await request("POST", `${ACCOUNTS}/robot/token`, { spec: {} });
  return (body.status as { token: string }).token;
};
const accepts = async ({ server }: TestServer, token: string): Promise<boolean> =>
  "user" in (await server.tokens.authenticate("hub", token));

test("every server accepts the tokens of every other one until the old key is retired", async () => {
  const engine = createMemoryEngine({ isShared: true });
  const [old, next] = await Promise.all([createSigningKey(), createSigningKey()]);
  const first = await withKeys(engine, old);
  await first.request("POST", ACCOUNTS, { metadata: { name: "robot" } });
  const prepared = await withKeys(engine, old, next);
  const activated = await withKeys(engine, next, old);
  const retired = await withKeys(engine, next);
  for (const { settle } of [prepared, activated, retired]) await settle();
  const [oldToken, newToken] = [await issue(prepared), await issue(activated)];

  const accepted = await Promise.all(
    [first, prepared, activated, retired].map(async (server) => [
      await accepts(server, oldToken),
      await accepts(server, newToken),
    ]),
  );
  const { body: published } = await activated.request("GET", "/openid/v1/jwks");

  expect(accepted).toEqual([
    [true, false],
    [true, true],
    [true, true],
    [false, true],
  ]);
  expect(published.keys).toHaveLength(2);
});
