/** What we, OpenSSL and `@peculiar/x509` read in a certificate or request, in one form that can be compared. */
// oxlint-disable-next-line import/no-unassigned-import -- a polyfill that @peculiar/x509 expects to be loaded
import "reflect-metadata";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { AlternativeNames } from "./alternative-names.ts";
import { extensionsOf } from "./certificate-extensions.ts";
import { parseCertificateRequest } from "./certificate-request.ts";
import { subjectOf } from "./certificate-subject.ts";
import { writePem } from "./pem.ts";
import type { PkiInput } from "./test-inputs.ts";
import { validityOf } from "./validity.ts";
import { EXTENSION } from "./x509.ts";

interface Reading {
  /** The user, which is the last common name. */
  user: string;
  /** The organizations, in order. */
  groups: readonly string[];
  /** In OpenSSL's form: `DNS:web.shop`; sorted. */
  alternativeNames: string[];
  /** Only of certificates. */
  validity?: string[];
  usages?: string[];
}

/** The error if the input is rejected. */
type Result = Reading | Error;

/** What `@peculiar/x509` rejects and we do not read: by its message. */
const STRICTER: readonly RegExp[] = [
  // The bits of a key usage, which the TLS library checks when it verifies a chain.
  /^Unused bits for BitString must be in range 0-7/,
  // The content of an alternative name of an unknown type, which we skip, as Go does.
  /^End of input reached before message was fully decoded/,
];

/** A difference that matters, or undefined. An input may be rejected by us alone: we accept less on purpose. */
export async function differenceOf(input: PkiInput, hasOpenssl: boolean): Promise<string | undefined> {
  const ours = readOurs(input);
  if (ours instanceof Error) return input.isIntact ? `we reject an intact ${input.kind}: ${ours.message}` : undefined;
  const peers: [string, Result][] = [["@peculiar/x509", await readPeculiar(input)]];
  if (hasOpenssl) peers.push(["openssl", await readOpenssl(input)]);
  for (const [peer, theirs] of peers) {
    if (theirs instanceof Error && STRICTER.some((rejection) => rejection.test(theirs.message))) continue;
    if (theirs instanceof Error) return `we accept what ${peer} rejects: ${theirs.message}`;
    if (JSON.stringify(ours) !== JSON.stringify(theirs))
      return `we read ${JSON.stringify(ours)}, and ${peer} ${JSON.stringify(theirs)}`;
  }
  return undefined;
}

function readOurs({ kind, bytes }: PkiInput): Result {
  return attempt(() => {
    if (kind === "request") {
      const { commonName, organizations, ...names } = parseCertificateRequest(
        Buffer.from(writePem("CERTIFICATE REQUEST", bytes)).toString("base64"),
      );
      return {
        user: commonName,
        groups: organizations,
        alternativeNames: ourNames(names),
      };
    }
    const certificate = new X509Certificate(bytes);
    const { names, usages } = extensionsOf(certificate);
    const { notBeforeMs, notAfterMs } = validityOf(certificate);
    const { commonName, organizations } = subjectOf(certificate);
    return {
      user: commonName,
      groups: organizations,
      alternativeNames: ourNames(names),
      validity: [notBeforeMs, notAfterMs].map((ms) => new Date(ms).toISOString()),
      usages: [...usages].sort(),
    };
  });
}

const ourNames = ({ dnsNames, emailAddresses, uris, ipAddresses }: AlternativeNames): string[] =>
  [
    ...dnsNames.map((text) => `DNS:${text}`),
    ...emailAddresses.map((text) => `email:${text}`),
    ...uris.map((text) => `URI:${text}`),
    ...ipAddresses.map((address) => `IP Address:${addressText(address)}`),
  ].sort();

async function readPeculiar({ kind, bytes }: PkiInput): Promise<Result> {
  try {
    const parsed = kind === "request" ? new x509.Pkcs10CertificateRequest(bytes) : new x509.X509Certificate(bytes);
    if (parsed instanceof x509.Pkcs10CertificateRequest && !(await parsed.verify()))
      return new Error("the signature is wrong");
    const names =
      (
        parsed.getExtension(EXTENSION.alternativeNames) as x509.SubjectAlternativeNameExtension | null
      )?.names.toJSON() ?? [];
    const reading: Reading = {
      user: decoded(parsed.subjectName.getField("CN").at(-1) ?? ""),
      groups: parsed.subjectName.getField("O").map(decoded),
      alternativeNames: names.flatMap(({ type, value }) => peculiarName(type, value)).sort(),
    };
    if (parsed instanceof x509.Pkcs10CertificateRequest) return reading;
    const usages =
      (parsed.getExtension(EXTENSION.extendedUsage) as x509.ExtendedKeyUsageExtension | null)?.usages ?? [];
    return {
      ...reading,
      validity: [parsed.notBefore.toISOString(), parsed.notAfter.toISOString()],
      usages: usages.map(String).sort(),
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** It writes a NumericString, which it does not decode, as the hexadecimal digits of its DER. */
function decoded(text: string): string {
  const bytes = /^12([0-9a-f]{2})+$/.test(text) ? Buffer.from(text, "hex") : undefined;
  return bytes?.[1] === (bytes?.length ?? 0) - 2 ? (bytes?.toString("latin1", 2) ?? text) : text;
}

function peculiarName(type: string, value: string): string[] {
  const prefix = { dns: "DNS", email: "email", url: "URI", ip: "IP Address" }[type];
  if (prefix === undefined) return [];
  return [`${prefix}:${type === "ip" && value.includes(":") ? longAddress(value) : value}`];
}

const unescape = (text: string): string =>
  text.replaceAll(/\\([0-9A-F]{2}|.)/g, (_all, one: string) =>
    one.length === 2 ? String.fromCharCode(Number.parseInt(one, 16)) : one,
  );

const NAME_OPTIONS = "sep_multiline,sname,utf8,esc_2253,esc_ctrl";

async function readOpenssl({ kind, bytes }: PkiInput): Promise<Result> {
  const shared = ["-inform", "DER", "-noout", "-subject", "-nameopt", NAME_OPTIONS];
  const more =
    kind === "request"
      ? ["-verify", "-text"]
      : ["-dates", "-dateopt", "iso_8601", "-ext", "subjectAltName,extendedKeyUsage"];
  const { error, text } = await openssl([kind === "request" ? "req" : "x509", ...shared, ...more], bytes);
  if (error) return error;
  const lines = text.split("\n");
  const after = (title: string): string =>
    lines.find((_line, index) => lines[index - 1]?.trim().replace(/ critical$/, "") === title)?.trim() ?? "";
  const start = lines.findLastIndex((line) => line.startsWith("subject="));
  const attributes = lines.slice(start + 1).filter((line) => line.startsWith("    ") && !line.startsWith("     "));
  const valuesOf = (type: string): string[] =>
    attributes
      .flatMap((line) => line.trimStart().split(/(?<!\\) \+ /))
      .filter((text) => text.startsWith(`${type}=`))
      .map((text) => unescape(text.slice(type.length + 1)));
  const reading: Reading = {
    user: valuesOf("CN").at(-1) ?? "",
    groups: valuesOf("O"),
    alternativeNames: namesIn(after("X509v3 Subject Alternative Name:")),
  };
  if (kind === "request") return reading;
  const dates = ["notBefore=", "notAfter="].map(
    (key) => lines.find((line) => line.startsWith(key))?.slice(key.length) ?? "",
  );
  const times = dates.map((date) => new Date(date.replace(" ", "T")));
  if (times.some((time) => Number.isNaN(time.getTime()))) return new Error("a time is not valid");
  return {
    ...reading,
    validity: times.map((time) => time.toISOString()),
    usages: after("X509v3 Extended Key Usage:")
      .split(", ")
      .flatMap((usage) => OPENSSL_USAGES[usage] ?? (usage === "" ? [] : [usage]))
      .sort(),
  };
}

const OPENSSL_USAGES: Readonly<Record<string, string>> = {
  "TLS Web Server Authentication": "1.3.6.1.5.5.7.3.1",
  "TLS Web Client Authentication": "1.3.6.1.5.5.7.3.2",
};

function openssl(options: readonly string[], input: Uint8Array): Promise<{ error?: Error; text: string }> {
  return new Promise((resolve) => {
    const child = execFile("openssl", options, { timeout: 10_000 }, (error, stdout, stderr) => {
      resolve({ error: error ? new Error(stderr.split("\n")[0]) : undefined, text: stdout });
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** Undefined where it is; else the reason for not using it. */
export async function opensslProblem(): Promise<string | undefined> {
  const { error } = await openssl(["version"], new Uint8Array());
  return error && "there is no openssl command";
}

const namesIn = (line: string): string[] =>
  line
    .split(", ")
    .filter((name) => /^(DNS|email|URI|IP Address):/.test(name))
    .map((name) =>
      name.startsWith("IP Address:") && name.split(":").length > 3 ? `IP Address:${longAddress(name.slice(11))}` : name,
    )
    .sort();

const addressText = (bytes: Uint8Array): string =>
  bytes.length === 4
    ? bytes.join(".")
    : longAddress(
        Array.from({ length: 8 }, (_, at) =>
          (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
        ).join(":"),
      );

/** All eight groups, without leading zeros. */
function longAddress(text: string): string {
  const [head = "", tail] = text.toLowerCase().split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, behind] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - behind.length }, () => "0");
  return [...before, ...zeros, ...behind].map((group) => group.replace(/^0+(?=.)/, "")).join(":");
}

function attempt(read: () => Reading): Result {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
