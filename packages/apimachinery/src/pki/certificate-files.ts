/**
 * Certificates in a directory: created when missing; renewed when they are about to expire, when the server's host
 * names change, or when the certificate authority changed.
 *
 * A key and its certificate share one file, `<name>.pem`, written completely and then renamed into place: after a crash
 * they still match. Files have mode 0600, the directory 0700.
 */
import { X509Certificate, createPrivateKey } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { coversHosts, createCertificateAuthority, isUsable, openCertificateAuthority } from "./authority.ts";
import type { CertificateAuthority, KeyPair } from "./authority.ts";
import { subjectOf } from "./certificate-subject.ts";
import type { CertificateSubject } from "./certificate-subject.ts";

export interface Certificates {
  authority: CertificateAuthority;
  serving: KeyPair;
  /** By the requested names. */
  clients: Record<string, KeyPair>;
  /** Signs the certificates with which the server calls aggregated servers. */
  frontProxy: CertificateAuthority;
  /** PEM of a CA that signs nothing: the clients that aggregated servers accept by certificate. */
  noClients: string;
}

class CertificateError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Certificate", message, options);
  }
}

const SECRET_FILE_MODE = 0o600;
const SECRET_DIRECTORY_MODE = 0o700;
const FILE_NAME = /^[a-z0-9][a-z0-9.-]*$/;

/** Ensures all certificates of a server; a second call with the same options changes nothing. */
export async function ensureCertificates(options: {
  directory: string;
  /** Host names and addresses of the server, in addition to the local ones. */
  hosts: readonly string[];
  /** `{ admin: { commonName: "admin", organizations: ["system:masters"] } }` creates `client-admin.pem`. */
  clients: Readonly<Record<string, CertificateSubject>>;
  clock: Clock;
  log: Log;
}): Promise<Certificates> {
  const { directory, hosts, clock, log } = options;
  await mkdir(directory, { recursive: true, mode: SECRET_DIRECTORY_MODE });

  const keep = async (
    name: string,
    isGood: (pair: KeyPair) => boolean,
    make: () => Promise<KeyPair>,
  ): Promise<KeyPair> => {
    if (!FILE_NAME.test(name))
      throw new CertificateError(
        `"${name}" is not a valid name for a certificate file; use lower-case letters, digits, dots and dashes`,
      );
    const path = join(directory, `${name}.pem`);
    const kept = await readPair(path);
    if (kept && isGood(kept)) return kept;
    const made = await make();
    await writeSecret(path, made.key + made.certificate);
    log.info(kept ? "certificate renewed" : "certificate created", {
      name,
      validTo: new X509Certificate(made.certificate).validTo,
    });
    return made;
  };

  const ca = await keep(
    "ca",
    (pair) => isUsable(pair, pair.certificate, clock),
    async () => createCertificateAuthority({ clock }),
  );
  const authority = openCertificateAuthority(ca, clock);
  const serving = await keep(
    "serving",
    (pair) => isUsable(pair, ca.certificate, clock) && coversHosts(pair.certificate, hosts),
    () => authority.issueServing(hosts),
  );
  const clients: Record<string, KeyPair> = {};
  for (const [name, subject] of Object.entries(options.clients)) {
    clients[name] = await keep(
      `client-${name}`,
      (pair) => isUsable(pair, ca.certificate, clock) && isFor(pair.certificate, subject),
      () => authority.issueClient(subject),
    );
  }
  const proxy = await keep(
    "front-proxy-ca",
    (pair) => isUsable(pair, pair.certificate, clock),
    async () => createCertificateAuthority({ clock, commonName: "flotilla-front-proxy-ca" }),
  );
  const clientless = await keep(
    "aggregated-clients-ca",
    (pair) => isUsable(pair, pair.certificate, clock),
    async () => createCertificateAuthority({ clock, commonName: "flotilla-aggregated-clients-ca" }),
  );
  return {
    authority,
    serving,
    clients,
    frontProxy: openCertificateAuthority(proxy, clock),
    noClients: clientless.certificate,
  };
}

function isFor(certificate: string, subject: CertificateSubject): boolean {
  const found = subjectOf(new X509Certificate(certificate));
  return found.commonName === subject.commonName && found.organizations.join("\n") === subject.organizations.join("\n");
}

async function readPair(path: string): Promise<KeyPair | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CertificateError(`cannot read ${path}: check its permissions`, { cause: error });
  }
  // Copied or restored files often lose their mode; a key that others can read is protected before it is used.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, SECRET_FILE_MODE);
  const key = text.match(/-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/)?.[0];
  const certificate = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/)?.[0];
  if (key === undefined || certificate === undefined || !belongTogether(certificate, key)) {
    // A new certificate authority could lock out all clients that trust the old one, so the administrator decides.
    throw new CertificateError(
      `${path} does not contain a private key and its certificate; restore it, or remove it to create a new one`,
    );
  }
  return { certificate, key };
}

function belongTogether(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    // Damaged PEM: the caller names the file, and the parser's message would only repeat parts of it.
    return false;
  }
}

async function writeSecret(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  // A leftover of a crash could have another mode or be a symbolic link.
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", SECRET_FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
