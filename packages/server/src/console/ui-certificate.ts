/**
 * The certificate that browsers get on the port of a hub. They do not know the hub's own authority, so the web UI can have a
 * certificate of another one, under names of its own. The files are read again every minute, as renewals replace them.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { SecureContext } from "node:tls";
import { every, FlotillaError, messageOf, UsageError } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";

export interface UiCertificateFiles {
  certificateFile: string;
  keyFile: string;
}

export interface UiCertificate {
  /** Its DNS names, in lower case. */
  names(): readonly string[];
  /** Undefined for a name that it is not for. */
  contextOf(serverName: string): SecureContext | undefined;
  close(): void;
}

const CHECK_INTERVAL_MS = 60_000;

interface Pair {
  certificate: string;
  key: string;
}

/** Throws `UsageError` when the files cannot be read, or do not belong together. `hubNames` are in lower case. */
export async function openUiCertificate(
  files: UiCertificateFiles,
  { hubNames, clock, log }: { hubNames: ReadonlySet<string>; clock: Clock; log: Log },
): Promise<UiCertificate> {
  let pair: Pair;
  let current: ReturnType<typeof load>;
  try {
    pair = await read(files);
    current = load(pair);
  } catch (error) {
    throw new UsageError(`--ui-tls-cert and --ui-tls-key: ${messageOf(error)}`);
  }

  async function reload(): Promise<void> {
    const next = await read(files);
    if (next.certificate === pair.certificate && next.key === pair.key) return;
    current = load(next);
    pair = next;
    log.info("the certificate of the web UI was replaced", { validTo: current.certificate.validTo });
  }
  const checking = every(clock, CHECK_INTERVAL_MS, () => {
    // While one of the two files is written they do not belong together.
    reload().catch((error: unknown) =>
      log.error("the certificate of the web UI cannot be read; the one before stays", { error }),
    );
  });

  return {
    names: () => current.names,
    contextOf: (serverName) =>
      !hubNames.has(serverName.toLowerCase()) && current.certificate.checkHost(serverName) !== undefined
        ? current.context
        : undefined,
    close: () => checking.cancel(),
  };
}

async function read({ certificateFile, keyFile }: UiCertificateFiles): Promise<Pair> {
  const [certificate, key] = await Promise.all([readFile(certificateFile, "utf8"), readFile(keyFile, "utf8")]);
  return { certificate, key };
}

function load({ certificate, key }: Pair): {
  certificate: X509Certificate;
  names: readonly string[];
  context: SecureContext;
} {
  const parsed = new X509Certificate(certificate);
  const names = namesOf(parsed);
  if (names.length === 0) throw new FlotillaError("Certificate", "the certificate has no DNS name");
  return { certificate: parsed, names, context: createSecureContext({ cert: certificate, key }) };
}

const namesOf = ({ subjectAltName = "" }: X509Certificate): string[] =>
  subjectAltName
    .split(", ")
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice("DNS:".length).toLowerCase());
