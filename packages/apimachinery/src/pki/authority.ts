/**
 * A private certificate authority: signs the server's certificates and those of clients.
 *
 * Keys are P-256. Certificates are valid from a little in the past, to allow for clock skew.
 */
import { X509Certificate, createPrivateKey, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "@flotilla/base";
import { createNames } from "./alternative-names.ts";
import type { CertificateRequest } from "./certificate-request.ts";
import { writePem } from "./pem.ts";
import { signRequest } from "./signed-requests.ts";
import type { RequestTerms } from "./signed-requests.ts";
import { writeCertificate } from "./x509.ts";
import type { DistinguishedName } from "./x509.ts";

/** PEM. The key is a secret: it is never logged and is written only to files with mode 0600. */
export interface KeyPair {
  certificate: string;
  key: string;
}

interface ClientSubject {
  commonName: string;
  organizations: readonly string[];
}

export interface CertificateAuthority extends KeyPair {
  /** Issues a certificate for a server with these host names and addresses. */
  issueServing(hosts: readonly string[]): Promise<KeyPair>;
  /** Issues a certificate for a client: `commonName` is the user, `organizations` are the groups. */
  issueClient(subject: ClientSubject): Promise<KeyPair>;
  /** Issues a certificate for a client of one logical cluster, which no other cluster accepts. */
  issueClusterClient(subject: ClientSubject, terms: Pick<RequestTerms, "cluster" | "lifetimeMs">): KeyPair;
  /** Signs a certificate, PEM, for a client's own key. Throws when the certificate authority itself has expired. */
  signRequest(request: CertificateRequest, terms: RequestTerms): string;
}

/** Every serving certificate includes these. */
const LOCAL_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "::1"];

const DAY_MS = 24 * 60 * 60 * 1000;
const CA_LIFETIME_MS = 3650 * DAY_MS;
const LEAF_LIFETIME_MS = 365 * DAY_MS;
const CLOCK_SKEW_MS = 5 * 60 * 1000;
/** A program that is restarted once a month never serves an expired certificate. */
const RENEW_BEFORE_MS = 30 * DAY_MS;

export async function createCertificateAuthority({
  clock,
  commonName = "flotilla-ca",
}: {
  clock: Clock;
  commonName?: string;
}): Promise<CertificateAuthority> {
  const { publicKey, privateKey } = generateKeys();
  const certificate = writeCertificate({
    subject: [{ attribute: "CN", value: commonName }],
    publicKey,
    signingKey: privateKey,
    ...validity(clock, CA_LIFETIME_MS),
  });
  return openCertificateAuthority({ certificate, key: exportKey(privateKey) }, clock);
}

/** Opens a certificate authority from its stored certificate and key. */
export function openCertificateAuthority(pair: KeyPair, clock: Clock): CertificateAuthority {
  const issue = async (
    subject: DistinguishedName,
    usage: "serverAuth" | "clientAuth",
    hosts?: readonly string[],
  ): Promise<KeyPair> => {
    const { publicKey, privateKey } = generateKeys();
    const issuer = { certificate: pair.certificate, usage, hosts };
    const certificate = writeCertificate({
      subject,
      publicKey,
      issuer,
      signingKey: createPrivateKey(pair.key),
      ...validity(clock, LEAF_LIFETIME_MS),
    });
    return { certificate, key: exportKey(privateKey) };
  };

  return {
    ...pair,
    signRequest: (request, terms) => signRequest(pair, request, terms, clock.now()),
    issueServing: (hosts) =>
      issue([{ attribute: "CN", value: "flotilla-apiserver" }], "serverAuth", servingHosts(hosts)),
    issueClient: ({ commonName, organizations }) =>
      issue(
        [...organizations.map((value) => ({ attribute: "O" as const, value })), { attribute: "CN", value: commonName }],
        "clientAuth",
      ),
    issueClusterClient({ commonName, organizations }, terms) {
      const { publicKey, privateKey } = generateKeys();
      const subject = { O: organizations, CN: [commonName] };
      const request = { ...createNames(), subject, commonName, organizations, publicKey };
      const usages = ["digital signature", "client auth"];
      return {
        certificate: signRequest(pair, request, { ...terms, usages }, clock.now()),
        key: exportKey(privateKey),
      };
    },
  };
}

/** The hosts of a serving certificate: the local names and the given ones, each once. */
function servingHosts(hosts: readonly string[]): string[] {
  return [...new Set([...LOCAL_HOSTS, ...hosts.map((host) => host.toLowerCase())])];
}

/** True when key and certificate match, `authority` (itself for a CA) issued it, and it is not about to expire. */
export function isUsable(pair: KeyPair, authority: string, clock: Clock): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const nowMs = clock.now();
  if (certificate.validFromDate.getTime() > nowMs || certificate.validToDate.getTime() < nowMs + RENEW_BEFORE_MS)
    return false;
  const issuer = new X509Certificate(authority);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** True when the certificate covers all these names and addresses. */
export function coversHosts(certificate: string, hosts: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return servingHosts(hosts).every(
    (host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host, { wildcards: false })) !== undefined,
  );
}

function validity(clock: Clock, lifetimeMs: number): { notBeforeMs: number; notAfterMs: number } {
  const nowMs = clock.now();
  return { notBeforeMs: nowMs - CLOCK_SKEW_MS, notAfterMs: nowMs + lifetimeMs };
}

function generateKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function exportKey(key: KeyObject): string {
  return writePem("PRIVATE KEY", key.export({ type: "pkcs8", format: "der" }));
}
