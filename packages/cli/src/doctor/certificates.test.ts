import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CertificateSigningRequest, Secret } from "@flotilla/kubernetes";
import { Cluster } from "@flotilla/karmada";
import { createFakeClock } from "@flotilla/base";
import { renderKubeconfig } from "@flotilla/client";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { certificateLifetime, tokenLifetime } from "./certificate-facts.ts";
import { certificatesCheck } from "./checks/certificates.ts";
import { createHubLists } from "./context.ts";
import { slimObject } from "./slim-objects.ts";
import { localEnvironment } from "./local-environment.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "flotilla-doctor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A one-year certificate that expires in this many days. */
async function certificate(days: number): Promise<string> {
  const authority = await createCertificateAuthority({ clock: createFakeClock(NOW - (365 - days) * DAY) });
  return (await authority.issueClient({ commonName: "test", organizations: [] })).certificate;
}
const token = (days: number): string =>
  [
    "e30",
    Buffer.from(JSON.stringify({ iat: (NOW - 100 * DAY) / 1000, exp: (NOW + days * DAY) / 1000 })).toString(
      "base64url",
    ),
    "x",
  ].join(".");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const [fine, late, over] = await Promise.all([certificate(300), certificate(20), certificate(-1)]);

test("a bundle expires with its first certificate, and other texts have no expiry", () => {
  expect(certificateLifetime(`${fine}\n${late}`)?.toMs).toBe(NOW + 20 * DAY);
  expect(certificateLifetime("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----")).toBeUndefined();
  expect(tokenLifetime(token(3))?.toMs).toBe(NOW + 3 * DAY);
  expect([tokenLifetime("abcdef.0123456789abcdef"), tokenLifetime("a.b.c"), tokenLifetime("opaque")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("credentials of the hub, the user, members and agents are all checked", async () => {
  const clock = createFakeClock(NOW);
  const client = createFakeClient({ clock });
  const { signal } = new AbortController();
  const kubeconfig = join(folder, "hub.kubeconfig");
  writeFileSync(
    kubeconfig,
    renderKubeconfig({ name: "hub", server: "https://127.0.0.1:6443", ca: fine, token: token(300) }),
  );
  await client.create(Cluster, "hub", {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "paris" },
    spec: { syncMode: "Push", secretRef: { namespace: "karmada-cluster", name: "paris" } },
  });
  await client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "karmada-cluster", name: "paris" },
    data: { token: base64(token(-2)), caBundle: base64(fine) },
  });
  for (const [name, pem] of [
    ["old", over],
    ["new", late],
  ] as const) {
    const made = await client.create(CertificateSigningRequest, "hub", {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name, labels: { "open-cluster-management.io/cluster-name": "oslo" } },
      spec: { request: "", signerName: "kubernetes.io/kube-apiserver-client" },
    });
    await client.updateStatus(CertificateSigningRequest, "hub", { ...made, status: { certificate: base64(pem) } });
  }

  const facts = await certificatesCheck.gather({
    client,
    server: "https://127.0.0.1:6443",
    access: { kubeconfigs: [kubeconfig] },
    data: ".",
    clock,
    signal,
    only: undefined,
    localEnvironment: { ...localEnvironment, servingCertificate: async () => new X509Certificate(late).raw },
    lists: createHubLists({ client, signal, slim: slimObject }),
    checks: new Set(),
  });
  const { findings, seen } = certificatesCheck.judge(facts, { nowMs: NOW, stuckAfterMs: 0 });

  expect(findings.map((finding) => `${finding.severity} ${finding.about}: ${finding.seen}`)).toEqual([
    "warning hub https://127.0.0.1:6443: The serving certificate of the hub expires in 20d.",
    "problem member paris: The token with which the hub connects to it expired 2d ago.",
    "warning member oslo: The certificate of its agent expires in 20d.",
  ]);
  expect(seen).toMatch(/^6 certificates and tokens/);
});
