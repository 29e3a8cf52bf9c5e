import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { tlsPairProblem } from "./tls-pair.ts";

const key = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const broken = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

const cases: Record<string, [certificate: string, key: string, want: string]> = {
  "an empty text has no certificate": ["", "", "tls: failed to find any PEM data in certificate input"],
  "detects a switched certificate and key": [
    key,
    broken,
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
  ],
  "the key is required": [broken, "", "tls: failed to find any PEM data in key input"],
  "a certificate is not a key": [
    broken,
    broken,
    "tls: found a certificate rather than a key in the PEM for the private key",
  ],
  "reports a damaged certificate": [broken, key, "x509: malformed certificate"],
};
for (const [behaviour, [certificate, privateKey, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(tlsPairProblem(certificate, privateKey)).toBe(want);
  });
}
