/**
 * Addresses that logical clusters may not have the server call: those that mean something else to the server's machine
 * than to the tenant who names them (SSRF).
 */
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Kind } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { APIService, EndpointSlice, Endpoints, Service, ValidatingWebhookConfiguration } from "@flotilla/kubernetes";
import { ADDRESS_ANNOTATION, PROFILE, createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const KINDS: Kind[] = [APIService, EndpointSlice, Endpoints, Service, ValidatingWebhookConfiguration];
const REFUSED = "an address that this cluster may not use";

/** A service of the machine that other machines must not reach. */
let port: number;
let connections: number;

beforeEach(async () => {
  connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
  onTestFinished(() => void server.close());
});

async function start(isExposed: boolean): Promise<TestServer> {
  const subject = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ...KINDS] } },
    clusters: { hub: "hub", tenant: "hub" },
    isExposed,
  });
  onTestFinished(() => subject.server.close());
  return subject;
}

type ClientConfig = (port: number) => JsonObject;

const targets: Record<string, ClientConfig> = {
  "a loopback address": (at) => ({ url: `https://127.0.0.1:${at}/` }),
  "a name of loopback": (at) => ({ url: `https://localhost:${at}/` }),
  "loopback as an IPv6 address": (at) => ({ url: `https://[::ffff:127.0.0.1]:${at}/` }),
  "loopback as a number": (at) => ({ url: `https://2130706433:${at}/` }),
  "the unspecified address": (at) => ({ url: `https://0.0.0.0:${at}/` }),
  "a Service with an address of loopback": () => ({ service: { namespace: "default", name: "local" } }),
};

const addService = (subject: TestServer, cluster: string): Promise<unknown> =>
  subject.request("POST", `${cluster}/api/v1/namespaces/default/services`, {
    metadata: { name: "local", annotations: { [ADDRESS_ANNOTATION]: `127.0.0.1:${port}` } },
    spec: { ports: [{ port: 443 }] },
  });

/** The message with which a write fails whose webhook has this configuration. */
async function askWebhook(subject: TestServer, cluster: string, clientConfig: JsonObject): Promise<unknown> {
  await addService(subject, cluster);
  const { status, body } = await subject.request(
    "POST",
    `${cluster}/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`,
    {
      metadata: { name: "probe" },
      webhooks: [
        {
          name: "probe.example.com",
          clientConfig,
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    },
  );
  expect({ status, body }).toMatchObject({ status: 201 });
  const answer = await subject.request("POST", `${cluster}/api/v1/namespaces/default/configmaps`, {
    metadata: { name: "a" },
  });
  expect(answer.status).toBe(500);
  return answer.body.message;
}

describe("on a hub that other machines reach, a webhook of a logical cluster does not connect to", () => {
  test.each(Object.entries(targets))("%s", async (_what, clientConfig) => {
    const subject = await start(true);

    expect(await askWebhook(subject, "/clusters/tenant", clientConfig(port))).toContain(REFUSED);
    expect(connections).toBe(0);
  });
});

test.each([
  "169.254.169.254",
  "[fe80::1]",
  "[::ffff:169.254.169.254]",
  "[fd00:ec2::254]",
  "[64:ff9b::169.254.169.254]",
])("no logical cluster connects to %s", async (host) => {
  const subject = await start(false);

  expect(await askWebhook(subject, "/clusters/tenant", { url: `https://${host}/` })).toContain(REFUSED);
});

/** Of this machine, beside loopback. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

test.runIf(ownAddress)(
  "a hub that other machines reach does not call its own machine for a logical cluster",
  async () => {
    const subject = await start(true);

    expect(await askWebhook(subject, "/clusters/tenant", { url: `https://${ownAddress}:${port}/` })).toContain(REFUSED);
  },
);

test("a hub that only its own machine reaches calls webhooks of logical clusters there", async () => {
  const subject = await start(false);

  expect(await askWebhook(subject, "/clusters/tenant", { url: `https://127.0.0.1:${port}/` })).not.toContain(REFUSED);
  expect(connections).toBe(1);
});

test("administrators of the hub may name every address", async () => {
  const subject = await start(true);

  expect(await askWebhook(subject, "", { url: `https://127.0.0.1:${port}/` })).not.toContain(REFUSED);
  expect(connections).toBe(1);
});

test("an aggregated server of a logical cluster is not called at a loopback address", async () => {
  const subject = await start(true);
  await addService(subject, "/clusters/tenant");
  const path = "/clusters/tenant/apis/apiregistration.k8s.io/v1/apiservices";
  await subject.request("POST", path, {
    metadata: { name: "v1.fish.example" },
    spec: {
      group: "fish.example",
      version: "v1",
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: "default", name: "local" },
      insecureSkipTLSVerify: true,
    },
  });

  await expect
    .poll(async () => {
      subject.clock.advance(200);
      return JSON.stringify((await subject.request("GET", `${path}/v1.fish.example`)).body.status ?? {});
    })
    .toContain(REFUSED);
  expect(connections).toBe(0);
});

test("a conversion webhook of a logical cluster is not called at a loopback address", async () => {
  const subject = await start(true);
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object" } },
  });
  await subject.request("POST", "/clusters/tenant/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [version("v1", true), version("v2", false)],
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { url: `https://127.0.0.1:${port}/` }, conversionReviewVersions: ["v1"] },
      },
    },
  });
  const widgets = (of: string): string => `/clusters/tenant/apis/example.com/${of}/namespaces/default/widgets`;
  const created = await subject.request("POST", widgets("v1"), {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "a" },
  });

  const { status, body } = await subject.request("GET", widgets("v2"));

  expect([created.status, status]).toEqual([201, 500]);
  expect(body.message).toContain(REFUSED);
  expect(connections).toBe(0);
});
