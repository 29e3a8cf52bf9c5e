import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { IdentityMetrics } from "@flotilla/apiserver";
import { createFakeClock, MetricsText, silentLog } from "@flotilla/base";
import type { IdentityOptions } from "@flotilla/cli";
import { openIdentity } from "./open-identity.ts";

const clock = createFakeClock();
let directory: string;
let metrics: IdentityMetrics;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-identity-"));
  metrics = new IdentityMetrics();
  onTestFinished(() => rm(directory, { recursive: true }));
});

async function open(options: IdentityOptions) {
  const opened = await openIdentity(options, { clock, log: silentLog, metrics });
  onTestFinished(() => opened.close());
  return opened;
}

async function write(name: string, content: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content);
  clock.advance(10_000);
  return file;
}

const configuration = (issuers: readonly string[], anonymous?: object): string =>
  JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: issuers.map((url) => ({
      issuer: { url, audiences: ["flotilla"] },
      claimMappings: { username: { claim: "sub", prefix: "" } },
    })),
    anonymous,
  });

/** A token for another audience, which is rejected before any key is needed; `undefined` if its issuer is not configured. */
const tokenOf = (iss: string): string =>
  [{ alg: "RS256" }, { iss, sub: "ann", aud: "other", exp: clock.now() / 1000 + 60 }, "signature"]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");

const page = (): string => {
  const text = new MetricsText();
  metrics.write(text);
  return text.finish();
};

test("a changed authentication configuration is used, and a wrong one leaves the one before", async () => {
  const file = await write("config.yaml", configuration(["https://a.example"]));
  const opened = await open({ authenticationConfig: file });
  const knows = async (issuer: string): Promise<boolean> =>
    (await opened.externalTokens?.authenticate(tokenOf(issuer), undefined, issuer)) !== undefined;
  expect([await knows("https://a.example"), await knows("https://b.example")]).toEqual([true, false]);
  expect(opened.anonymous()).toBeUndefined();

  await write("config.yaml", configuration(["https://b.example"], { enabled: false }));
  await expect.poll(() => opened.anonymous()).toBe(false);
  expect([await knows("https://a.example"), await knows("https://b.example")]).toEqual([false, true]);
  await write("config.yaml", "kind: Nothing");

  await expect
    .poll(page)
    .toContain('apiserver_authentication_config_controller_automatic_reloads_total{status="failure"} 1');
  expect(page()).toContain('apiserver_authentication_config_controller_automatic_reloads_total{status="success"} 1');
  expect(await knows("https://b.example")).toBe(true);
});

test("the first provider may come while the server runs", async () => {
  const file = await write("config.yaml", configuration([]));
  const opened = await open({ authenticationConfig: file });

  await write("config.yaml", configuration(["https://a.example"]));

  await expect
    .poll(() => opened.externalTokens?.authenticate(tokenOf("https://a.example"), undefined, "token"))
    .toHaveProperty("error");
});

test("the authorities of kubelets and proxies are read again", async () => {
  const kubelets = await write("kubelets.pem", "old");
  const proxies = await write("proxies.pem", "old");
  const headers = { allowedNames: [], usernameHeaders: ["X"], uidHeaders: [], groupHeaders: [], extraPrefixes: [] };
  const opened = await open({
    kubeletCertificateAuthority: kubelets,
    requestHeader: { clientCaFile: proxies, ...headers },
  });
  const used: string[] = [];
  opened.proxies?.follow(({ clientCa }) => void used.push(clientCa));

  await write("kubelets.pem", "new");
  await expect.poll(() => opened.kubeletAuthority?.()).toBe("new");
  await write("proxies.pem", "new");

  await expect.poll(() => used).toEqual(["new"]);
  expect(page()).toContain(
    'flotilla_configuration_reloads_total{flag="--kubelet-certificate-authority",status="success"} 1',
  );
});
