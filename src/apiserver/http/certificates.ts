/**
 * A certificate authority of our own: it vouches for the server to its clients, and for clients to the server.
 *
 * Keys are P-256. Certificates start a little in the past, because the clocks of clients are never quite right. The X.509
 * library takes a tenth of a second to load, so it is loaded only when something is issued.
 */
import { X509Certificate } from "node:crypto";
import type { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type * as X509 from "@peculiar/x509";
import type { Clock } from "../../base/index.ts";

/** PEM. The key is a secret: it is never logged and goes only into files with mode 0600. */
export interface KeyPair {
  certificate: string;
  key: string;
}

export interface CertificateAuthority extends KeyPair {
  /** For a server that is reached under `hosts`, names and addresses. */
  issueServing(hosts: readonly string[]): Promise<KeyPair>;
  /** For a client: `commonName` is the user, `organizations` are the groups. */
  issueClient(subject: { commonName: string; organizations: readonly string[] }): Promise<KeyPair>;
}

/** Every serving certificate is good for these. */
export const LOCAL_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "::1"];

const DAY_MS = 24 * 60 * 60 * 1000;
const CA_LIFETIME_MS = 3650 * DAY_MS;
const LEAF_LIFETIME_MS = 365 * DAY_MS;
const CLOCK_SKEW_MS = 5 * 60 * 1000;
/** A program that is restarted once a month never serves an expired certificate. */
export const RENEW_BEFORE_MS = 30 * DAY_MS;
const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNING_ALGORITHM = { name: "ECDSA", hash: "SHA-256" } as const;

export async function createCertificateAuthority({ clock, commonName = "flotilla-ca" }: { clock: Clock; commonName?: string }): Promise<CertificateAuthority> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(clock, CA_LIFETIME_MS),
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return openCertificateAuthority({ certificate: certificate.toString("pem"), key: await exportKey(keys.privateKey) }, clock);
}

/** The authority whose certificate and key were kept. */
export function openCertificateAuthority(pair: KeyPair, clock: Clock): CertificateAuthority {
  const issue = async (subject: X509.JsonNameParams, usage: "serverAuth" | "clientAuth", hosts?: readonly string[]): Promise<KeyPair> => {
    const x509 = await loadX509();
    const issuer = new x509.X509Certificate(pair.certificate);
    const signingKey = await importKey(pair.key);
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: new x509.Name(subject),
      issuer: issuer.subjectName,
      ...validity(clock, LEAF_LIFETIME_MS),
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
        ...(hosts ? [new x509.SubjectAlternativeNameExtension(hosts.map((host) => ({ type: isIP(host) ? "ip" : "dns", value: host })))] : []),
      ],
    });
    return { certificate: certificate.toString("pem"), key: await exportKey(keys.privateKey) };
  };

  return {
    ...pair,
    issueServing: (hosts) => issue([{ CN: ["flotilla-apiserver"] }], "serverAuth", servingHosts(hosts)),
    issueClient: ({ commonName, organizations }) => issue([...organizations.map((group) => ({ O: [exactly(group)] })), { CN: [exactly(commonName)] }], "clientAuth"),
  };
}

/** A plain string would be read as an escaped one, and `x"system:masters"` would become `system:masters`. */
function exactly(name: string): { utf8String: string } {
  return { utf8String: name };
}

/** What a serving certificate lists: the local names and the given ones, each once. */
export function servingHosts(hosts: readonly string[]): string[] {
  return [...new Set([...LOCAL_HOSTS, ...hosts.map((host) => host.toLowerCase())])];
}

/** True when the pair belongs together, was issued by `authority` (itself for a CA), and will last for a while. */
export function isUsable(pair: KeyPair, authority: string, clock: Clock): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const nowMs = clock.now();
  if (certificate.validFromDate.getTime() > nowMs || certificate.validToDate.getTime() < nowMs + RENEW_BEFORE_MS) return false;
  const issuer = new X509Certificate(authority);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** True when the certificate is good for all these names and addresses. */
export function coversHosts(certificate: string, hosts: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return servingHosts(hosts).every((host) => (isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host, { wildcards: false })) !== undefined);
}

type X509Library = typeof X509;

async function loadX509(): Promise<X509Library> {
  // The library's decorators need it, and fail at import time when it is not there first.
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

function validity(clock: Clock, lifetimeMs: number): { notBefore: Date; notAfter: Date } {
  const nowMs = clock.now();
  return { notBefore: new Date(nowMs - CLOCK_SKEW_MS), notAfter: new Date(nowMs + lifetimeMs) };
}

/** 127 random bits: positive, and never the same twice. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(KEY_ALGORITHM, true, ["sign", "verify"]);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
  return crypto.subtle.importKey("pkcs8", der, KEY_ALGORITHM, false, ["sign"]);
}
