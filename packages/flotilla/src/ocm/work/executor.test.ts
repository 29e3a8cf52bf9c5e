import { expect, test } from "vitest";
import { dynamicKind, isAlreadyExists } from "@flotilla/apimachinery";
import type { Client, RawRequest } from "@flotilla/client";
import { checkExecutor, dryRunOver } from "./executor.ts";

const roles = dynamicKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "Role",
  plural: "roles",
  scope: "Namespaced",
});
const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "all", namespace: "a/b" } };
const account = { user: "system:serviceaccount:shop:deployer", groups: ["system:serviceaccounts"] };
const { signal } = new AbortController();

/** A member that gives every request the same response. */
function member(status: number, text: string): { client: Client; asked: RawRequest[] } {
  const asked: RawRequest[] = [];
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  const raw: Client["raw"] = async (request) => {
    asked.push(request);
    return { status, headers: {}, body: body() };
  };
  return { client: { raw } as Client, asked };
}

test("over a network the dry run impersonates the account and changes nothing", async () => {
  const { client, asked } = member(201, "{}");

  await dryRunOver(client, "paris")(account, roles, role, signal);

  expect(asked).toMatchObject([
    {
      method: "POST",
      path: "/apis/rbac.authorization.k8s.io/v1/namespaces/a%2Fb/roles?dryRun=All",
      cluster: "paris",
      impersonate: { user: account.user },
    },
  ]);
  expect(asked[0]?.impersonate?.groups ?? []).toEqual([]);
});

test("a rejection by the member is an error with its code and reason, whatever the response contains", async () => {
  const run = (status: number, text: string): Promise<void> =>
    dryRunOver(member(status, text).client, "paris")(account, roles, role, signal);

  await expect(run(403, '{"kind":"Status","reason":"Forbidden","message":"no"}')).rejects.toMatchObject({
    status: { code: 403, reason: "Forbidden" },
  });
  await expect(run(409, '{"reason": "AlreadyExists"}').catch((error: unknown) => isAlreadyExists(error))).resolves.toBe(
    true,
  );
  await expect(run(500, "<html>")).rejects.toMatchObject({ status: { code: 500 } });
});

test("an executor without a service account is an error", async () => {
  const question = {
    executor: { subject: { type: "ServiceAccount" as const } },
    kind: roles,
    object: role,
    isOwned: true,
  };

  await expect(
    checkExecutor(
      question,
      { client: member(500, "").client, cluster: "paris", dryRunAs: () => Promise.resolve() },
      signal,
    ),
  ).rejects.toThrow("the executor service account is nil");
});
