import { expect, onTestFinished, test } from "vitest";
import { IdentityMetrics } from "@flotilla/apiserver";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createAuthorizerChain } from "../../../apiserver/src/access/authorizer-chain.ts";
import type { NodeAuthorizer } from "../../../apiserver/src/access/node-authorizer.ts";
import type { Rbac } from "../../../apiserver/src/access/rbac.ts";
import { createTestFolder, kubeconfigOf, serveAnswers } from "../process/test-kubeconfig.ts";
import { openAuthorization } from "./open-authorization.ts";

const review = (status: JsonObject): string => JSON.stringify({ status });

/** Two webhooks, then the roles. */
const configuration = (timeout: string): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthorizationConfiguration",
    authorizers: [
      ...["slow", "strict"].map((name) => ({
        type: "Webhook",
        name,
        webhook: {
          timeout,
          cacheAuthorizedRequests: false,
          cacheUnauthorizedRequests: false,
          subjectAccessReviewVersion: "v1",
          failurePolicy: "NoOpinion",
          connectionInfo: { type: "KubeConfigFile", kubeConfigFile: `${name}.kubeconfig` },
        },
      })),
      { type: "RBAC", name: "roles" },
    ],
  });

test("a webhook that denies is asked by requests that waited for another one while the configuration was reloaded", async () => {
  const waits = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isSlow = false;
  const slow = await serveAnswers(async () => {
    if (isSlow) {
      waits.resolve();
      await answered.promise;
    }
    return review({ allowed: false });
  });
  const strict = await serveAnswers(() => review({ allowed: false, denied: true, reason: "never" }));
  const folder = await createTestFolder();
  await folder.write("slow.kubeconfig", kubeconfigOf(slow));
  await folder.write("strict.kubeconfig", kubeconfigOf(strict));
  await folder.write("authorization.json", configuration("20s"));
  const clock = createFakeClock();
  const opened = await openAuthorization(
    { config: folder.path("authorization.json") },
    { clock, log: silentLog, metrics: new IdentityMetrics() },
  );
  if (!opened) throw new Error("there is a configuration");
  onTestFinished(() => opened.close());
  const roles = { decide: () => ({ allowed: true, reason: "a role" }) } as unknown as Rbac;
  const chain = createAuthorizerChain({ roles, nodes: {} as NodeAuthorizer }, opened, () => false);
  const decide = async (name: string) =>
    chain.decide({
      cluster: "hub",
      verb: "get",
      user: { name, groups: [] },
      resource: { group: "", resource: "secrets" },
    });
  // Both webhooks have a connection, which is closed with the configuration.
  await decide("before");

  isSlow = true;
  const decision = decide("during");
  await waits.promise;
  const { authorizers } = opened;
  await folder.write("authorization.json", configuration("21s"));
  clock.advance(10_000);
  await expect.poll(() => opened.authorizers === authorizers).toBe(false);
  answered.resolve();

  expect(await decision).toMatchObject({ allowed: false, denied: true, reason: "never" });
});
