/** Signing, approval and cleanup of certificate requests, without a server. */
import { CLIENT_SIGNER, KUBELET_CLIENT_SIGNER } from "../../well-known-names.ts";
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseCertificateRequest, writeCertificateRequest } from "@flotilla/apimachinery";
import type { CertificateSigningRequest } from "../../certificatesigningrequest/certificatesigningrequest-kind.ts";
import type { RequestSubject } from "@flotilla/apimachinery";
import { expiryOf } from "./plan-cleanup.ts";
import { planSigning } from "./plan-signing.ts";
import { approvalsFor } from "./recognized-requests.ts";

/** `spec.request`, with a new key. */
const makeRequest = (subject: RequestSubject): string =>
  Buffer.from(writeCertificateRequest({ subject, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) })).toString(
    "base64",
  );
const CREATED = "2024-05-01T12:00:00Z";
const HOUR_MS = 60 * 60 * 1000;
const approved = { type: "Approved", status: "True", lastUpdateTime: CREATED };
const make = (
  spec: Partial<CertificateSigningRequest["spec"]>,
  status: CertificateSigningRequest["status"] = {},
  subject: RequestSubject = { CN: ["jane"] },
): CertificateSigningRequest => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "a", creationTimestamp: CREATED },
  spec: { request: makeRequest(subject), signerName: CLIENT_SIGNER, usages: ["client auth"], ...spec },
  status,
});

describe("signs a certificate", () => {
  const lives: Record<string, { asked?: number; wantSeconds: number }> = {
    "for a year without expirationSeconds": { wantSeconds: 31_536_000 },
    "for the requested duration": { asked: 3600, wantSeconds: 3600 },
    "for at most a year": { asked: 99_999_999, wantSeconds: 31_536_000 },
  };
  for (const [behaviour, { asked, wantSeconds }] of Object.entries(lives)) {
    test(behaviour, () => {
      const plan = planSigning(
        make(asked === undefined ? {} : { expirationSeconds: asked }, { conditions: [approved] }),
      );

      expect(plan).toMatchObject({ type: "sign", usages: ["client auth"], lifetimeMs: wantSeconds * 1000 });
    });
  }

  const limited: Record<string, { asked?: number; wantSeconds: number }> = {
    "for the default of its subject without expirationSeconds": { wantSeconds: 7200 },
    "for at most the limit of its subject": { asked: 99_999, wantSeconds: 14_400 },
    "for a shorter requested duration": { asked: 3600, wantSeconds: 3600 },
  };
  for (const [behaviour, { asked, wantSeconds }] of Object.entries(limited)) {
    test(`${behaviour}, where its subject has a limit`, () => {
      const plan = planSigning(make({ expirationSeconds: asked }, { conditions: [approved] }), ({ commonName }) =>
        commonName === "jane" ? { defaultSeconds: 7200, maxSeconds: 14_400 } : undefined,
      );

      expect(plan).toMatchObject({ type: "sign", lifetimeMs: wantSeconds * 1000 });
    });
  }

  const nothing: Record<string, CertificateSigningRequest> = {
    "before it is approved": make({}),
    "when it was denied": make({}, { conditions: [{ type: "Denied", status: "True" }] }),
    "when signing failed": make({}, { conditions: [approved, { type: "Failed", status: "True" }] }),
    "when it has a certificate": make({}, { conditions: [approved], certificate: "eA==" }),
    "for another signer": make({ signerName: "example.com/signer" }, { conditions: [approved] }),
    "for a serving signer": make({ signerName: "kubernetes.io/kubelet-serving" }, { conditions: [approved] }),
  };
  for (const [when, csr] of Object.entries(nothing)) {
    test(`not ${when}`, () => {
      expect(planSigning(csr)).toEqual({ type: "nothing" });
    });
  }

  const failures: Record<string, { csr: CertificateSigningRequest; want: string }> = {
    "for server auth": {
      csr: make({ usages: ["client auth", "server auth"] }),
      want: "invalid usage for client certificate: server auth",
    },
    "without a subject": {
      csr: make({ usages: ["digital signature"] }),
      want: "missing required usage for client certificate: client auth",
    },
    "for an invalid kubelet subject": {
      csr: make({ signerName: KUBELET_CLIENT_SIGNER }),
      want: "subject organization is not system:nodes",
    },
  };
  for (const [what, { csr, want }] of Object.entries(failures)) {
    test(`never ${what}`, () => {
      expect(planSigning({ ...csr, status: { conditions: [approved] } })).toEqual({ type: "fail", message: want });
    });
  }
});

describe("automatic approval of a request", () => {
  const usages = ["digital signature", "key encipherment", "client auth"];
  const node = { O: ["system:nodes"], CN: ["system:node:n1"] };
  const cases: Record<
    string,
    { spec: Partial<CertificateSigningRequest["spec"]>; subject: RequestSubject; want: string[] }
  > = {
    "of a kubelet": {
      spec: { usages, username: "x", signerName: KUBELET_CLIENT_SIGNER },
      subject: node,
      want: ["nodeclient"],
    },
    "of a kubelet whose key cannot encipher": {
      spec: {
        usages: ["digital signature", "client auth"],
        username: "system:node:n1",
        signerName: KUBELET_CLIENT_SIGNER,
      },
      subject: node,
      want: ["selfnodeclient", "nodeclient"],
    },
    "not of a kubelet with the other signer": { spec: { usages }, subject: node, want: [] },
    "not of a kubelet in a second group": {
      spec: { usages, signerName: KUBELET_CLIENT_SIGNER },
      subject: { ...node, O: ["system:nodes", "dev"] },
      want: [],
    },
    "not of another user in the kubelets' group": {
      spec: { usages, signerName: KUBELET_CLIENT_SIGNER },
      subject: { ...node, CN: ["admin"] },
      want: [],
    },
    "not for other usages": {
      spec: { usages: [...usages, "server auth"], signerName: KUBELET_CLIENT_SIGNER },
      subject: node,
      want: [],
    },
    "not for fewer usages": {
      spec: { usages: ["client auth"], signerName: KUBELET_CLIENT_SIGNER },
      subject: node,
      want: [],
    },
    "not of a user": { spec: { usages }, subject: { CN: ["jane"] }, want: [] },
  };
  for (const [behaviour, { spec, subject, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const csr = make(spec, {}, subject);

      expect(
        approvalsFor(csr, parseCertificateRequest(csr.spec.request)).map(({ subresource }) => subresource),
      ).toEqual(want);
    });
  }
});

describe("deletes a request", () => {
  const cases: Record<string, { status: CertificateSigningRequest["status"]; wantHours: number }> = {
    "a day after its creation if pending": { status: {}, wantHours: 24 },
    "an hour after it was denied": { status: { conditions: [{ ...approved, type: "Denied" }] }, wantHours: 1 },
    "an hour after signing failed": {
      status: { conditions: [approved, { ...approved, type: "Failed" }] },
      wantHours: 1,
    },
    "an hour after it was approved and signed": {
      status: { conditions: [approved], certificate: "eA==" },
      wantHours: 1,
    },
    "a day after it was approved and not signed": { status: { conditions: [approved] }, wantHours: 24 },
    "never if it has an unknown condition": {
      status: { conditions: [{ type: "Ready", status: "True", lastUpdateTime: CREATED }] },
      wantHours: Number.POSITIVE_INFINITY,
    },
  };
  for (const [behaviour, { status, wantHours }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(expiryOf(make({}, status)) - Date.parse(CREATED)).toBe(wantHours * HOUR_MS);
    });
  }
});
