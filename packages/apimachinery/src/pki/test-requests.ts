/** Certificate requests for tests. */
import { generateKeyPairSync } from "node:crypto";
import type { RequestSubject } from "./certificate-request.ts";
import { writeCertificateRequest } from "./write-request.ts";

/** `spec.request`, base64 of PEM, with a key of its own. */
export function makeRequest(subject: RequestSubject): string {
  return Buffer.from(
    writeCertificateRequest({ subject, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) }),
  ).toString("base64");
}
