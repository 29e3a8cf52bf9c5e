/** What we, OpenSSL and `@peculiar/x509` read in certificates and requests, in one form that can be compared. */
// oxlint-disable-next-line import/no-unassigned-import -- a polyfill that @peculiar/x509 expects to be loaded
import "reflect-metadata";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { required } from "@flotilla/base";
import type { AlternativeNames } from "./alternative-names.ts";
import { parseCertificateRequest } from "./certificate-request.ts";
import { writePem } from "./pem.ts";
import { readCertificate } from "./read-certificate.ts";
import { AUTHORITY, type PkiInput } from "./test-inputs.ts";
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

/** Another implementation: what it reads in each of the inputs. */
export interface Peer {
  name: string;
  read: (inputs: readonly PkiInput[]) => Promise<Result[]>;
}

/** The inputs that we accept, with what we read in them. We may reject an input alone: we accept less on purpose. */
export interface Accepted {
  readings: { input: PkiInput; ours: Reading }[];
  /** Intact inputs that we reject. */
  problems: string[];
}

export function readAll(inputs: readonly PkiInput[]): Accepted {
  const accepted: Accepted = { readings: [], problems: [] };
  for (const input of inputs) {
    const ours = readOurs(input);
    if (!(ours instanceof Error)) accepted.readings.push({ input, ours });
    else if (input.isIntact) accepted.problems.push(`we reject an intact ${input.kind}: ${ours.message}`);
  }
  return accepted;
}

/** Where a peer rejects what we accept, or reads something else in it. */
export async function differencesTo(peer: Peer, { readings }: Accepted): Promise<string[]> {
  const results = await peer.read(readings.map(({ input }) => input));
  return readings.flatMap(({ input, ours }, index) => {
    const theirs = required(results[index], "a result for each input");
    const bytes = Buffer.from(input.bytes).toString("base64");
    if (theirs instanceof Error) return `we accept what ${peer.name} rejects: ${theirs.message}: ${bytes}`;
    // OpenSSL prints the names of usages that it knows, which are then not compared.
    const usages = theirs.usages?.every((usage) => /^[\d.]+$/.test(usage)) ? theirs.usages : ours.usages;
    if (JSON.stringify(ours) === JSON.stringify({ ...theirs, usages })) return [];
    return `we read ${JSON.stringify(ours)}, and ${peer.name} ${JSON.stringify(theirs)}: ${bytes}`;
  });
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
    // In a handshake the TLS library rejects bytes behind a certificate and a damaged key. Node's parser accepts both.
    if (certificate.raw.length !== bytes.length) throw new Error("unexpected data after its end");
    if (certificate.publicKey.type !== "public") throw new Error("the key cannot be read");
    const { commonName, organizations, names, usages, notBeforeMs, notAfterMs } = readCertificate(certificate);
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

export const peculiar: Peer = { name: "@peculiar/x509", read: (inputs) => Promise.all(inputs.map(readPeculiar)) };

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

/**
 * OpenSSL reads all inputs in three processes: `ca` verifies the requests and issues a certificate for each, `verify`
 * reads the extensions of every certificate strictly and prints its subject, and `storeutl` prints the rest.
 */
export const openssl: Peer = {
  name: "openssl",
  async read(inputs) {
    if (inputs.length === 0) return [];
    try {
      return await inFolder((folder) => readOpenssl(inputs, folder));
    } catch (error) {
      // It stops at the first input that it cannot read, which is searched for.
      const middle = inputs.length >> 1;
      if (middle === 0) return inputs.map(() => (error instanceof Error ? error : new Error(String(error))));
      return [...(await openssl.read(inputs.slice(0, middle))), ...(await openssl.read(inputs.slice(middle)))];
    }
  },
};

const NAME_OPTIONS = "sep_multiline,sname,utf8,esc_2253,esc_ctrl";
/** Of one length in hexadecimal, for more certificates than a run has. */
const FIRST_SERIAL = 0x10_00_00;
const CA_CONFIGURATION = `
[ca]
default_ca = all
[all]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
default_days = 1
preserve = yes
unique_subject = no
copy_extensions = copyall
policy = every_attribute
x509_extensions = none
[none]
[every_attribute]
countryName = optional
organizationName = optional
organizationalUnitName = optional
localityName = optional
stateOrProvinceName = optional
commonName = optional
serialNumber = optional
title = optional
`;

async function readOpenssl(inputs: readonly PkiInput[], folder: string): Promise<Result[]> {
  const requests = inputs.filter(({ kind }) => kind === "request");
  const issued = await issue(requests, folder);
  const certificates = inputs.map((input) =>
    input.kind === "request" ? (issued[requests.indexOf(input)] ?? "") : writePem("CERTIFICATE", input.bytes),
  );
  const files = await writeEach(folder, "certificate", certificates);
  await writeFile(join(folder, "bundle"), certificates.join(""));
  const [verified, printed] = await Promise.all([
    run(["verify", "-no-CAfile", "-no-CApath", "-no-CAstore", "-nameopt", NAME_OPTIONS, ...files], folder),
    run(["storeutl", "-noout", "-text", "-certs", "bundle"], folder),
  ]);
  const subjects = subjectsIn(verified, files);
  const texts = printed.split(/^\d+: Certificate$/m).slice(1);
  if (texts.length !== inputs.length) throw new Error("storeutl does not read every certificate");
  return inputs.map(({ kind }, index) =>
    opensslReading(kind, required(subjects[index], "a subject"), texts[index] ?? ""),
  );
}

/** The certificates that OpenSSL's own authority issues: with the names of the requests. PEM. */
async function issue(requests: readonly PkiInput[], folder: string): Promise<string[]> {
  if (requests.length === 0) return [];
  await writeEach(folder, "authority", [AUTHORITY.certificate, AUTHORITY.key]);
  await writeFile(join(folder, "ca.cnf"), CA_CONFIGURATION);
  await writeFile(join(folder, "index.txt"), "");
  // The serial numbers are the names of the files.
  await writeFile(join(folder, "serial"), FIRST_SERIAL.toString(16));
  const pem = requests.map(({ bytes }) => writePem("CERTIFICATE REQUEST", bytes));
  const files = await writeEach(folder, "request", pem);
  const authority = ["-cert", "authority-0", "-keyfile", "authority-1"];
  const text = await run(["ca", "-batch", "-config", "ca.cnf", ...authority, "-notext", "-infiles", ...files], folder);
  const names = files.map((_file, index) => `${(FIRST_SERIAL + index).toString(16).toUpperCase()}.pem`);
  return Promise.all(
    names.map((name) =>
      readFile(join(folder, name), "utf8").catch((cause: unknown) => {
        throw new Error(`no certificate is issued: ${text.trim().split("\n").at(-1)}`, { cause });
      }),
    ),
  );
}

interface OpensslSubject {
  lines: string[];
  /** Why an extension cannot be read. */
  problem: string | undefined;
}

/** No certificate verifies, because its issuer is missing; after that it says what is wrong in the certificate itself. */
function subjectsIn(text: string, files: readonly string[]): OpensslSubject[] {
  const subjects: OpensslSubject[] = [];
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, problem] = /^[0-9A-F]+:error:[0-9A-F]+:(.*)$/.exec(line) ?? [];
    const last = subjects.at(-1);
    if (problem !== undefined && last) last.problem ??= problem;
    else if (line === `error ${files[subjects.length]}: verification failed`) {
      subjects.push({ lines, problem: undefined });
      lines = [];
    } else if (!/^error \d+ at /.test(line)) lines.push(line);
  }
  if (subjects.length !== files.length) throw new Error(`verify stops: ${lines.join(" ")}`);
  return subjects;
}

function opensslReading(kind: PkiInput["kind"], subject: OpensslSubject, text: string): Result {
  if (subject.problem !== undefined) return new Error(subject.problem);
  const lines = text.split("\n").map((line) => line.trim());
  const after = (title: string): string =>
    lines.find((_line, index) => lines[index - 1]?.replace(/ critical$/, "") === title) ?? "";
  const valuesOf = (type: string): string[] =>
    subject.lines
      .flatMap((line) => line.split(/(?<!\\) \+ /))
      .filter((attribute) => attribute.startsWith(`${type}=`))
      .map((attribute) => unescape(attribute.slice(type.length + 1)));
  const reading: Reading = {
    user: valuesOf("CN").at(-1) ?? "",
    groups: valuesOf("O"),
    alternativeNames: namesIn(after("X509v3 Subject Alternative Name:")),
  };
  if (kind === "request") return reading;
  const times = ["Not Before: ", "Not After : "].map(
    (title) => new Date(lines.find((line) => line.startsWith(title))?.slice(title.length) ?? ""),
  );
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

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-pki-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes each text to a file of its own; returns the names. */
async function writeEach(folder: string, name: string, texts: readonly string[]): Promise<string[]> {
  const files = texts.map((_text, index) => `${name}-${index}`);
  await Promise.all(texts.map((text, index) => writeFile(join(folder, files[index] ?? ""), text)));
  return files;
}

/** What OpenSSL prints, whatever its exit code. */
const run = (options: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve) => {
    execFile("openssl", options, { cwd, timeout: 60_000, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });

/** Undefined where there is an OpenSSL; else the reason for not using it. */
export const opensslProblem = async (): Promise<string | undefined> =>
  (await run(["version"], tmpdir())) === "" ? "there is no openssl command" : undefined;

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
