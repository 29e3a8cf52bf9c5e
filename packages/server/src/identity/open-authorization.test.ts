import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { IdentityMetrics } from "@flotilla/apiserver";
import { createFakeClock, MetricsText, silentLog } from "@flotilla/base";
import type { AuthorizationOptions } from "@flotilla/cli";
import { openAuthorization } from "./open-authorization.ts";

let directory: string;
const open = (options: AuthorizationOptions) =>
  openAuthorization(options, { clock: createFakeClock(), log: silentLog, metrics: new IdentityMetrics() });
const names = (opened: { authorizers: readonly (string | { name: string })[] } | undefined) =>
  opened?.authorizers.map((each) => (typeof each === "string" ? each : each.name));

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-authorization-"));
  await writeFile(
    join(directory, "guard.kubeconfig"),
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "guard", cluster: { server: "https://127.0.0.1:1/authorize" } }],
      contexts: [{ name: "guard", context: { cluster: "guard", user: "" } }],
      "current-context": "guard",
    }),
  );
  await writeFile(
    join(directory, "authorization.yaml"),
    `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
  - type: Webhook
    name: guard
    webhook:
      timeout: 3s
      subjectAccessReviewVersion: v1
      failurePolicy: Deny
      connectionInfo: { type: KubeConfigFile, kubeConfigFile: guard.kubeconfig }
  - { type: RBAC, name: rbac }
`,
  );
});
afterAll(() => rm(directory, { recursive: true }));

test("without flags, roles alone decide", async () => {
  expect(await open({})).toBeUndefined();
});

test("a file names authorizers in order, and kubeconfigs beside it", async () => {
  expect(names(await open({ config: join(directory, "authorization.yaml") }))).toEqual(["guard", "roles"]);
});

test("a changed file is used, and a wrong one leaves the one before", async () => {
  const clock = createFakeClock();
  const file = join(directory, "changing.yaml");
  const modes = (...types: string[]): string =>
    JSON.stringify({
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "AuthorizationConfiguration",
      authorizers: types.map((type) => ({ type, name: type.toLowerCase() })),
    });
  await writeFile(file, modes("Node", "RBAC"));
  const metrics = new IdentityMetrics();
  const opened = await openAuthorization({ config: file }, { clock, log: silentLog, metrics });
  onTestFinished(() => opened?.close());
  expect(names(opened)).toEqual(["nodes", "roles"]);

  await writeFile(file, modes("RBAC"));
  clock.advance(10_000);
  await expect.poll(() => names(opened)).toEqual(["roles"]);
  await writeFile(file, modes("ABAC"));
  clock.advance(10_000);

  const page = (): string => {
    const text = new MetricsText();
    metrics.write(text);
    return text.finish();
  };
  await expect
    .poll(page)
    .toContain('apiserver_authorization_config_controller_automatic_reloads_total{status="failure"} 1');
  expect(page()).toContain('apiserver_authorization_config_controller_automatic_reloads_total{status="success"} 1');
  expect(page()).toMatch(/automatic_reload_last_timestamp_seconds\{status="success"\} 17145/);
  expect(names(opened)).toEqual(["roles"]);
});

test("flags name authorizers in order", async () => {
  const opened = await open({ modes: ["RBAC", "Webhook"], webhookConfig: join(directory, "guard.kubeconfig") });

  expect(names(opened)).toEqual(["roles", "webhook"]);
});

test.each<[string, AuthorizationOptions, string]>([
  ["a webhook without a kubeconfig", { modes: ["Webhook"] }, "belong together"],
  ["a kubeconfig without a mode", { webhookConfig: "x" }, "needs --authorization-mode"],
  ["both forms", { config: "x", modes: ["RBAC"] }, "not both"],
  ["an unknown mode", { modes: ["ABAC"] }, "Unsupported value"],
])("%s is rejected", async (_, options, problem) => {
  await expect(open(options)).rejects.toThrow(problem);
});
