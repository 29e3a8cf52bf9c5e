import { generateKeyPairSync } from "node:crypto";
import { writeCertificate } from "@flotilla/apimachinery";
import { parseKubeconfig } from "@flotilla/client";
import { describe, expect, test } from "vitest";
import { expiresMs, kubeconfigOf, latestOf, problemWith, renewalDueMs } from "./hub-credentials.ts";
import type { HubAddress, HubCredentials } from "./hub-credentials.ts";

const at = (time: string): number => Date.parse(time);
const FROM = "2026-05-01T00:00:00Z";
const UNTIL = "2026-05-11T00:00:00Z";
const USER = "system:open-cluster-management:oslo:agent-1";

function makePair({ commonName = USER, until = UNTIL } = {}): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = writeCertificate({
    subject: [
      { attribute: "O", value: "system:open-cluster-management:managed-clusters" },
      ...(commonName === "" ? [] : [{ attribute: "CN" as const, value: commonName }]),
    ],
    publicKey,
    signingKey: privateKey,
    notBeforeMs: at(FROM),
    notAfterMs: at(until),
  });
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}

const address: HubAddress = {
  name: "hub",
  server: "https://hub.example.com",
  ca: "CA\n",
  proxyUrl: "",
  others: ["https://hub2.example.com"],
};
const pair = makePair();
const later = makePair({ until: "2026-05-21T00:00:00Z" });
const stored: HubCredentials = { address, cluster: "oslo", agent: "agent-1", ...pair };
const OTHER_HUB = "they are for another hub than the one in the bootstrap kubeconfig";

describe("stored credentials", () => {
  const cases: Record<
    string,
    { stored?: Partial<HubCredentials>; hub?: Partial<HubAddress> | "none"; now?: string; want: string | undefined }
  > = {
    "can be used until they expire": { now: "2026-05-10T23:59:59Z", want: undefined },
    "can be used when the authority differs by white space": { hub: { ca: "CA" }, want: undefined },
    "can be used without a bootstrap kubeconfig": { hub: "none", want: undefined },
    "cannot be used for another server": { hub: { server: "https://other.example.com" }, want: OTHER_HUB },
    "cannot be used for a hub with other addresses": { hub: { others: [] }, want: OTHER_HUB },
    "cannot be used with another proxy": { hub: { proxyUrl: "http://proxy:3128" }, want: OTHER_HUB },
    "cannot be used with another authority": { hub: { ca: "CA2" }, want: OTHER_HUB },
    "cannot be used for a hub of another name": { hub: { name: "staging" }, want: OTHER_HUB },
    "cannot be used for another cluster": { stored: { cluster: "paris" }, want: "they are for cluster paris" },
    "cannot be used with the key of another certificate": {
      stored: { key: later.key },
      want: "the certificate cannot be parsed, or does not match the key",
    },
    "cannot be used when the certificate is damaged": {
      stored: { cert: pair.cert.slice(0, 200) },
      want: "the certificate cannot be parsed, or does not match the key",
    },
    "cannot be used by another user": {
      stored: makePair({ commonName: "system:open-cluster-management:oslo:agent-2" }),
      want: "the certificate is for system:open-cluster-management:oslo:agent-2",
    },
    "cannot be used without a user": { stored: makePair({ commonName: "" }), want: "the certificate is for no user" },
    "cannot be used from the moment they expire": {
      now: UNTIL,
      want: "the certificate expired on 2026-05-11T00:00:00.000Z",
    },
  };
  for (const [behaviour, { stored: more, hub, now = FROM, want }] of Object.entries(cases))
    test(behaviour, () => {
      const wanted = {
        address: hub === "none" ? undefined : { ...address, ...hub },
        cluster: "oslo",
        commonName: USER,
      };

      expect(problemWith({ ...stored, ...more }, wanted, at(now))).toBe(want);
    });
});

describe("a certificate", () => {
  test("is due for renewal when the given share of its lifetime is left", () => {
    expect(renewalDueMs(pair.cert, 0.2)).toBe(at("2026-05-09T00:00:00Z"));
  });

  test("expires at the end of its validity", () => {
    expect(expiresMs(pair.cert)).toBe(at(UNTIL));
  });

  test("that cannot be parsed is due at once and has expired", () => {
    expect(renewalDueMs("no certificate", 0.2)).toBe(0);
    expect(expiresMs("no certificate")).toBe(0);
  });
});

describe("of stored and given credentials an agent uses", () => {
  const cases: Record<string, { kept: Partial<HubCredentials> | undefined; want: "kept" | "given" }> = {
    "the given ones when none are stored": { kept: undefined, want: "given" },
    "the stored ones when they expire later": { kept: later, want: "kept" },
    "the stored ones when both expire at once": { kept: {}, want: "kept" },
    "the given ones when they expire later": { kept: makePair({ until: "2026-05-02T00:00:00Z" }), want: "given" },
    "the given ones when the stored ones are damaged": { kept: { cert: "" }, want: "given" },
    "the given ones when the stored ones are for another cluster": {
      kept: { ...later, cluster: "paris" },
      want: "given",
    },
    "the given ones when the stored ones are for another server": {
      kept: { ...later, address: { ...address, server: "https://other.example.com" } },
      want: "given",
    },
    "the given ones when the stored ones trust another authority": {
      kept: { ...later, address: { ...address, ca: "CA2" } },
      want: "given",
    },
  };
  for (const [behaviour, { kept: more, want }] of Object.entries(cases))
    test(behaviour, () => {
      const kept = more && { ...stored, ...more };

      expect(latestOf(kept, stored)).toBe(want === "kept" ? kept : stored);
    });
});

describe("the kubeconfig of an agent", () => {
  const cases: Record<string, { ca: string; want: string | undefined }> = {
    "contains the authority of its hub": { ca: "CA", want: "Q0E=" },
    "trusts the system's authorities without one": { ca: "", want: undefined },
  };
  for (const [behaviour, { ca, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { currentContext, clusters } = parseKubeconfig(kubeconfigOf({ ...stored, address: { ...address, ca } }));

      expect(currentContext).toBe("hub");
      expect(clusters.get("hub")?.["server"]).toBe("https://hub.example.com");
      expect(clusters.get("hub")?.["certificate-authority-data"]).toBe(want);
    });
});
