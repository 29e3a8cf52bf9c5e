/**
 * Certificates in a directory: created when missing; renewed when they are about to expire, when the server's host
 * names change, or when the certificate authority changed.
 *
 * A key and its certificate share one file, `<name>.pem`, written completely and then renamed into place: after a crash
 * they still match. Files have mode 0600, the directory 0700. The file of an authority may have several pairs: the first
 * signs, and what any of them signed is accepted. So an authority is replaced while clients of both are served.
 */
import { splitCertificates } from "./pem.ts";
import { X509Certificate, createPrivateKey } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { FlotillaError } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import { coversHosts, createCertificateAuthority, isUsable, openCertificateAuthority } from "./authority.ts";
import type { CertificateAuthority, KeyPair } from "./authority.ts";
import { subjectOf } from "./certificate-subject.ts";
import type { CertificateSubject } from "./certificate-subject.ts";

/** The authorities that all API servers of a hub share. */
export interface Authorities {
  authority: CertificateAuthority;
  /** PEM: the certificates of every authority whose clients are accepted, and that clients of the server may trust. */
  trusted: string;
  /** Signs the certificates with which the server calls aggregated servers. */
  frontProxy: CertificateAuthority;
  /** PEM: the front proxy authorities that aggregated servers accept. */
  trustedFrontProxies: string;
  /** PEM of a CA that signs nothing: the clients that aggregated servers accept by certificate. */
  noClients: string;
}

export interface Certificates extends Authorities {
  serving: KeyPair;
  /** By the requested names. */
  clients: Record<string, KeyPair>;
}

/** The files of the authorities, and the name in their certificates. The last one signs nothing, so it is never replaced. */
export const AUTHORITY_FILES = {
  "ca.pem": "flotilla-ca",
  "front-proxy-ca.pem": "flotilla-front-proxy-ca",
  "aggregated-clients-ca.pem": "flotilla-aggregated-clients-ca",
} as const;

class CertificateError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Certificate", message, options);
  }
}

const SECRET_FILE_MODE = 0o600;
const SECRET_DIRECTORY_MODE = 0o700;
const FILE_NAME = /^[a-z0-9][a-z0-9.-]*$/;

export interface AuthorityOptions {
  /** The folder of the authorities. */
  directory: string;
  /** Whether missing authorities are created, and those that are about to expire replaced. Otherwise they are only read. */
  mayWrite: boolean;
  clock: Clock;
  log: Log;
}

/** Opens the authorities of a folder. */
export async function ensureAuthorities({ directory, mayWrite, clock, log }: AuthorityOptions): Promise<Authorities> {
  if (mayWrite) await mkdir(directory, { recursive: true, mode: SECRET_DIRECTORY_MODE });
  const open = async (name: keyof typeof AUTHORITY_FILES): Promise<[KeyPair, ...KeyPair[]]> => {
    const path = join(directory, name);
    const [first, ...rest] = await readPairs(path, mayWrite);
    if (first && (!mayWrite || rest.length > 0 || isUsable(first, first.certificate, clock))) return [first, ...rest];
    if (!mayWrite) throw new CertificateError(`${path} does not exist; copy it from another API server of this hub`);
    return [await makePair(path, () => createCertificateAuthority({ clock, commonName: AUTHORITY_FILES[name] }), log)];
  };
  const ca = await open("ca.pem");
  const proxy = await open("front-proxy-ca.pem");
  const [{ certificate: noClients }] = await open("aggregated-clients-ca.pem");
  return {
    authority: openCertificateAuthority(ca[0], clock),
    trusted: certificatesOf(ca),
    frontProxy: openCertificateAuthority(proxy[0], clock),
    trustedFrontProxies: certificatesOf(proxy),
    noClients,
  };
}

/** Ensures all certificates of a server; a second call with the same options changes nothing. */
export async function ensureCertificates(options: {
  directory: string;
  /** Where the authorities are; unset: in the directory, which creates them. */
  authorities?: Authorities | undefined;
  /** Host names and addresses of the server, in addition to the local ones. */
  hosts: readonly string[];
  /** `{ admin: { commonName: "admin", organizations: ["system:masters"] } }` creates `client-admin.pem`. */
  clients: Readonly<Record<string, CertificateSubject>>;
  clock: Clock;
  log: Log;
}): Promise<Certificates> {
  const { directory, hosts, clock, log } = options;
  await mkdir(directory, { recursive: true, mode: SECRET_DIRECTORY_MODE });
  const authorities = options.authorities ?? (await ensureAuthorities({ directory, mayWrite: true, clock, log }));
  const { authority } = authorities;

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
    const [kept] = await readPairs(path, true);
    return kept && isUsable(kept, authority.certificate, clock) && isGood(kept) ? kept : makePair(path, make, log);
  };

  const serving = await keep(
    "serving",
    (pair) => coversHosts(pair.certificate, hosts),
    () => authority.issueServing(hosts),
  );
  const clients: Record<string, KeyPair> = {};
  for (const [name, subject] of Object.entries(options.clients)) {
    clients[name] = await keep(
      `client-${name}`,
      (pair) => isFor(pair.certificate, subject),
      () => authority.issueClient(subject),
    );
  }
  return { ...authorities, serving, clients };
}

/** Writes pairs to a file, in this order: the first one signs. */
export async function writePairs(path: string, pairs: readonly KeyPair[]): Promise<void> {
  await writeSecret(path, pairs.map(({ key, certificate }) => key + certificate).join(""));
}

async function makePair(path: string, make: () => Promise<KeyPair>, log: Log): Promise<KeyPair> {
  const made = await make();
  await writePairs(path, [made]);
  log.info("certificate created", { file: basename(path), validTo: new X509Certificate(made.certificate).validTo });
  return made;
}

const certificatesOf = (pairs: readonly KeyPair[]): string => pairs.map(({ certificate }) => certificate).join("");

function isFor(certificate: string, subject: CertificateSubject): boolean {
  const found = subjectOf(new X509Certificate(certificate));
  return found.commonName === subject.commonName && found.organizations.join("\n") === subject.organizations.join("\n");
}

/** The pairs of a file; none if it does not exist. */
export async function readPairs(path: string, mayWrite: boolean): Promise<KeyPair[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new CertificateError(`cannot read ${path}: check its permissions`, { cause: error });
  }
  // Copied or restored files often lose their mode; a key that others can read is protected before it is used.
  if (mayWrite && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, SECRET_FILE_MODE);
  const keys = text.match(/-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/g) ?? [];
  const certificates = splitCertificates(text).map((certificate) => `${certificate}\n`);
  const pairs = certificates.map((certificate, index) => ({ certificate, key: keys[index] ?? "" }));
  if (
    pairs.length === 0 ||
    keys.length !== pairs.length ||
    pairs.some(({ certificate, key }) => !belongTogether(certificate, key))
  ) {
    // A new certificate authority could lock out all clients that trust the old one, so the administrator decides.
    throw new CertificateError(
      `${path} does not contain a private key and its certificate; restore it, or remove it to create a new one`,
    );
  }
  return pairs;
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
