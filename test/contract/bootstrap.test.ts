/** Certificates and bootstrap tokens with an in-memory server and a manual clock. */
import { X509Certificate, generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCertificateAuthority, writeCertificateRequest } from "@flotilla/apimachinery";
import type { KubernetesObject, RequestSubject } from "@flotilla/apimachinery";
import {
  bootstrapRbac,
  CertificateSigningRequest,
  ConfigMap,
  createSystemControllers,
  kubernetesKinds,
  publishClusterInfo,
  Secret,
} from "@flotilla/kubernetes";
import { createAuthenticator } from "@flotilla/apiserver";
import type { ApiServer } from "@flotilla/apiserver";
import { createSeededRandom, silentLog } from "@flotilla/base";
import type { DeepReadonly, FakeClock } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createInformers, createManager } from "@flotilla/controller-runtime";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { bootstrapAccess } from "@flotilla/flotilla";

/** `spec.request`, with a new key. */
const makeRequest = (subject: RequestSubject): string =>
  Buffer.from(writeCertificateRequest({ subject, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) })).toString(
    "base64",
  );
const HOUR_MS = 60 * 60 * 1000;
const KEYS = ["kube-system", "kube-public", "karmada-cluster", "open-cluster-management"];
const namespaces: KubernetesObject[] = KEYS.map((name) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name },
}));
const profiles = {
  hub: { builtIns: kubernetesKinds, customs: [], objects: [...namespaces, ...bootstrapRbac(), ...bootstrapAccess()] },
};
const signal = new AbortController().signal;

let clock: FakeClock;
let server: ApiServer;
let client: Client;
let settle: () => Promise<void>;
let stop: () => Promise<void>;
beforeEach(async () => {
  const started = await createTestServer({ profiles, clusters: { hub: "hub", paris: "hub" } });
  ({ server, clock } = started);
  const authority = await createCertificateAuthority({ clock });
  client = createClient({ transport: started.transport, fieldManager: "user" });
  const informers = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "*" },
    random: createSeededRandom(2),
  });
  const manager = createManager({ client, informers, clock, log: silentLog });
  manager.add(
    ...createSystemControllers({
      client,
      informers,
      clock,
      log: silentLog,
      home: "hub",
      rootCertificate: "",
      issueSecretToken: async () => "",
      signRequest: (cluster, request, terms) =>
        authority.signRequest(request, { ...terms, cluster: server.clusterId(cluster) }),
    }),
  );
  manager.start(signal);
  settle = () => reconcileUntilQuiet({ managers: [manager], server });
  stop = async () => {
    await manager.stop();
    informers.close();
    await server.close();
  };
  await settle();
});
afterEach(() => stop());

/** Advances the clock and runs everything that is due. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}

async function ask(
  name: string,
  subject: RequestSubject,
  spec: Partial<CertificateSigningRequest["spec"]> = {},
): Promise<void> {
  await client.create(CertificateSigningRequest, "hub", {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: makeRequest(subject),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "client auth"],
      ...spec,
    },
  });
  await settle();
}

async function approve(name: string): Promise<void> {
  await client.patch(
    CertificateSigningRequest,
    { cluster: "hub", name },
    { status: { conditions: [{ type: "Approved", status: "True" }] } },
    { type: "merge", subresource: "approval" },
  );
  await settle();
}

const list = async (): Promise<string[]> =>
  (await client.list(CertificateSigningRequest, { cluster: "hub" })).items.map(({ metadata }) => metadata.name);
const find = (name: string): Promise<DeepReadonly<CertificateSigningRequest>> =>
  client.get(CertificateSigningRequest, { cluster: "hub", name });
const certificateOf = async (name: string): Promise<X509Certificate> =>
  new X509Certificate(Buffer.from((await find(name)).status?.certificate ?? "", "base64"));

describe("a certificate", () => {
  test("is signed when it is approved, for the requested duration and usages", async () => {
    await ask("jane", { O: ["dev"], CN: ["jane"] }, { expirationSeconds: 3600 });
    expect((await find("jane")).status).toEqual({});

    await approve("jane");

    const certificate = await certificateOf("jane");
    expect(certificate.subject).toBe("O=dev\nCN=jane");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate.ca).toBe(false);
    expect(certificate.validToDate.getTime()).toBe(Math.floor((clock.now() + HOUR_MS) / 1000) * 1000);
  });

  test("a certificate for other usages than client auth fails with a reason", async () => {
    await ask("server", { CN: ["jane"] }, { usages: ["server auth"] });

    await approve("server");

    expect((await find("server")).status?.conditions?.[1]).toMatchObject({
      type: "Failed",
      reason: "SignerValidationFailure",
      message: "invalid usage for client certificate: server auth",
    });
  });

  test("is valid only in the cluster that signed it", async () => {
    const authenticator = createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: server.tokens,
      isCluster: server.isCluster,
    });
    const certificate = { commonName: "jane", organizations: [], cluster: server.clusterId("hub") };

    expect((await authenticator.authenticate({ certificate, cluster: "hub" }))?.name).toBe("jane");
    await expect(async () => authenticator.authenticate({ certificate, cluster: "paris" })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });

  test("is not valid in a new cluster of the same name", async () => {
    const authenticator = createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      tokens: server.tokens,
      isCluster: server.isCluster,
    });
    const certificate = { commonName: "jane", organizations: [], cluster: server.clusterId("paris") };
    await server.removeCluster("paris");
    await server.addCluster("paris", "hub");

    await expect(async () => authenticator.authenticate({ certificate, cluster: "paris" })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });

  test("request is deleted an hour after it was signed, and a day after it was created if pending", async () => {
    await ask("signed", { CN: ["jane"] });
    await approve("signed");
    await ask("forgotten", { CN: ["joe"] });

    await pass(HOUR_MS + 2_000);
    expect(await list()).toEqual(["forgotten"]);
    await pass(23 * HOUR_MS);
    expect(await list()).toEqual([]);
  });
});

describe("a bootstrap token", () => {
  const TOKEN = "abcdef.0123456789abcdef";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const makeToken = (data: Record<string, string> = {}, rest: object = {}): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(
      Object.entries({
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        ...data,
      }).map(([key, value]) => [key, base64(value)]),
    ),
    ...rest,
  });
  const whose = async (token = TOKEN, cluster = "hub"): Promise<unknown> => {
    const outcome = await server.tokens.authenticate(cluster, token);
    return "user" in outcome ? outcome.user : undefined;
  };
  const inFuture = (): string => new Date(clock.now() + HOUR_MS).toISOString().replace(/\.\d+/, "");

  test("authenticates as its own user, in the groups of its Secret", async () => {
    await client.create(
      Secret,
      "hub",
      makeToken({ "auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a" }),
    );

    expect(await whose()).toEqual({
      name: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:b", "system:authenticated"],
    });
    expect(await whose(TOKEN, "paris")).toBeUndefined();
  });

  const refused: Record<string, { secret: () => Secret; token?: string }> = {
    "with another secret": { secret: () => makeToken(), token: "abcdef.0123456789abcdeX" },
    "with a wrong secret of the same format": { secret: () => makeToken(), token: "abcdef.fedcba9876543210" },
    "with another id": { secret: () => makeToken({ "token-id": "fedcba" }) },
    "only for signing": { secret: () => makeToken({ "usage-bootstrap-authentication": "false" }) },
    "with an unparsable expiration": { secret: () => makeToken({ expiration: "tomorrow" }) },
    "in a group that is not a bootstrappers group": {
      secret: () => makeToken({ "auth-extra-groups": "system:masters" }),
    },
    "with an empty group in the list": { secret: () => makeToken({ "auth-extra-groups": "system:bootstrappers:a," }) },
    "in another namespace": {
      secret: () => makeToken({}, { metadata: { name: "bootstrap-token-abcdef", namespace: "kube-public" } }),
    },
    "of another Secret type": { secret: () => makeToken({}, { type: "Opaque" }) },
  };
  for (const [which, { secret, token }] of Object.entries(refused)) {
    test(`${which} does not authenticate`, async () => {
      await client.create(Secret, "hub", secret());

      expect(await whose(token)).toBeUndefined();
    });
  }

  test("expires and is deleted", async () => {
    await client.create(Secret, "hub", makeToken({ expiration: inFuture() }));
    await settle();
    expect(await whose()).toBeDefined();

    await pass(HOUR_MS + 1_000);

    expect(await whose()).toBeUndefined();
    expect((await client.list(Secret, { cluster: "hub", namespace: "kube-system" })).items).toEqual([]);
  });

  test("signs cluster-info until it is deleted", async () => {
    const keys = async (): Promise<string[]> =>
      Object.keys(
        (await client.get(ConfigMap, { cluster: "hub", namespace: "kube-public", name: "cluster-info" })).data ?? {},
      ).sort();
    await publishClusterInfo(client, "hub", { server: "https://127.0.0.1:6443", ca: "CA" }, signal);
    await client.create(Secret, "hub", makeToken());
    await settle();
    expect(await keys()).toEqual(["jws-kubeconfig-abcdef", "kubeconfig"]);

    await client.delete(Secret, { cluster: "hub", namespace: "kube-system", name: "bootstrap-token-abcdef" });
    await settle();

    expect(await keys()).toEqual(["kubeconfig"]);
  });
});

describe("the server address in cluster-info", () => {
  const kubeconfig = async (): Promise<string> =>
    (await client.get(ConfigMap, { cluster: "hub", namespace: "kube-public", name: "cluster-info" })).data?.[
      "kubeconfig"
    ] ?? "";
  const publish = (port: number): Promise<void> =>
    publishClusterInfo(client, "hub", { server: `https://127.0.0.1:${port}`, ca: "CA" }, signal);

  test("follows the port", async () => {
    await publish(1);
    await publish(2);

    expect(await kubeconfig()).toContain("server: https://127.0.0.1:2\n");
  });

  test("is kept if a user changed it", async () => {
    await publish(1);
    const info = await client.get(ConfigMap, { cluster: "hub", namespace: "kube-public", name: "cluster-info" });
    const written = (await kubeconfig()).replace("127.0.0.1:1", "hub.example.com");
    await client.update(ConfigMap, "hub", { ...info, data: { kubeconfig: written } });

    await publish(2);

    expect(await kubeconfig()).toBe(written);
  });
});
