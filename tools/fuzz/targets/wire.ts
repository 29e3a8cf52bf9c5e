/** Input before the body: tokens, certificates, WebSocket frames, query options, times; and the lines of a watch. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { Duplex } from "node:stream";
import {
  ApiError,
  CertificateRequestError,
  der,
  DerError,
  derItems,
  parseCertificateRequest,
  readDer,
  subjectOf,
  timeProblem,
  writeCertificate,
  writeCertificateRequest,
  writePem,
} from "@flotilla/apimachinery";
import type { DistinguishedName } from "@flotilla/apimachinery";
import {
  asksForWatch,
  createSigningKey,
  decodeToken,
  hasGoodSignature,
  integerOf,
  listQuery,
  openSigningKeys,
  parseRevision,
  readClaims,
  timeoutMsOf,
  writeOptions,
} from "@flotilla/apiserver";
import type { SigningKey } from "@flotilla/apiserver";
import { createFakeClock, type Json, type JsonObject } from "@flotilla/base";
import { createWatchDecoder, loadWebSockets, UnreachableError } from "@flotilla/client";
import type { Chance } from "../chance.ts";
import { deployment } from "../corpus.ts";
import { HOSTILE_TEXTS } from "../hostile.ts";
import { mutateBytes, mutateJson, mutateText } from "../mutate.ts";
import { defineTarget } from "../target.ts";

const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const TOKEN_HEAD: JsonObject = { alg: "RS256", kid: "a" };
const TOKEN_CLAIMS: readonly JsonObject[] = [
  {
    iss: "https://kubernetes.default.svc.cluster.local",
    sub: "system:serviceaccount:default:web",
    aud: ["api"],
    exp: 2_000_000_000,
    nbf: 1,
    iat: 1,
    jti: "1",
    "kubernetes.io": { namespace: "default", serviceaccount: { name: "web", uid: "1" }, pod: { name: "p", uid: "2" } },
  },
  {
    iss: "kubernetes/serviceaccount",
    sub: "system:serviceaccount:default:web",
    "kubernetes.io/serviceaccount/namespace": "default",
    "kubernetes.io/serviceaccount/secret.name": "s",
    "kubernetes.io/serviceaccount/service-account.name": "web",
    "kubernetes.io/serviceaccount/service-account.uid": "1",
  },
];

function tokenFrom(chance: Chance): string {
  const head = chance.oneIn(3) ? mutateJson(chance, TOKEN_HEAD) : TOKEN_HEAD;
  const claims = chance.oneIn(4)
    ? chance.pick(TOKEN_CLAIMS)
    : mutateJson(chance, chance.pick(TOKEN_CLAIMS), TOKEN_CLAIMS);
  const token = `${encode(head)}.${encode(claims)}.${Buffer.alloc(chance.pick([1, 255, 256, 257]), chance.below(256)).toString("base64url")}`;
  return chance.oneIn(3) ? mutateText(chance, token, [".", "..", "=", "e30", "bnVsbA", "_", "-"]) : token;
}

let signingKey: Promise<SigningKey> | undefined;

/** A forged token is parsed, but never trusted. */
export const jwt = defineTarget({
  name: "jwt",
  generate: tokenFrom,
  declares: () => false,
  async run(token) {
    const decoded = decodeToken(token);
    if (!decoded) return undefined;
    if (hasGoodSignature(await (signingKey ??= createSigningKey().then((pem) => openSigningKeys(pem)[0])), decoded))
      return "a forged signature is accepted";
    const claims = readClaims(decoded.payload);
    if (!claims) return undefined;
    return decoded.payload.sub === `system:serviceaccount:${claims.namespace}:${claims.account.name}`
      ? undefined
      : "the account is not the token's subject";
  },
});

/** The target is the other end: everything written is discarded. */
class DeafSocket extends Duplex {
  override _read(): void {
    // Data from a peer is emitted as it arrives.
  }
  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

function frameFrom(chance: Chance): Uint8Array {
  const body = Buffer.alloc(chance.oneIn(20) ? chance.size(70_000) : chance.size(300), chance.below(256));
  const size = body.length < 126 ? 0 : body.length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + size + 4);
  head[0] = chance.pick([0x82, 0x82, 0x81, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8a, 0x83, 0xc2]);
  head[1] = 0x80 | (size === 0 ? body.length : size === 2 ? 126 : 127);
  if (size === 2) head.writeUInt16BE(body.length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, body]);
}

const MAX_MESSAGE_BYTES = 1024 * 1024;
const createWebSocket = await loadWebSockets();

export const webSocketFrames = defineTarget({
  name: "websocket",
  generate(chance) {
    const bytes = Buffer.concat(chance.list(1 + chance.size(20), () => frameFrom(chance)));
    const sent = chance.oneIn(3) ? mutateBytes(chance, bytes) : bytes;
    return { sent, cuts: chance.list(chance.size(20), () => chance.below(sent.length + 1)).toSorted((a, b) => a - b) };
  },
  declares: () => false,
  run({ sent, cuts }) {
    const whole = messagesOf([sent]);
    const pieces = [...cuts, sent.length].map((end, index) => sent.subarray(cuts[index - 1] ?? 0, end));
    const cut = messagesOf(pieces);
    if (whole.some((message) => message.length > MAX_MESSAGE_BYTES)) return "a message exceeds the maximum length";
    return Buffer.concat(whole).equals(Buffer.concat(cut)) && whole.length === cut.length
      ? undefined
      : "the same bytes in other chunks are other messages";
  },
});

function messagesOf(pieces: readonly Uint8Array[]): Buffer[] {
  const messages: Buffer[] = [];
  const socket = new DeafSocket();
  const web = createWebSocket(socket, Buffer.alloc(0), {
    side: "server",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    closeGrace: { clock: createFakeClock(), ms: 2000 },
    message: (data) => void messages.push(data),
    closed: () => undefined,
  });
  for (const piece of pieces) socket.emit("data", Buffer.from(piece));
  web.close();
  socket.destroy();
  return messages;
}

const certificateKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const SUBJECT_TEXTS = [
  "ann",
  "system:masters",
  "CN=admin",
  "a\nO=system:masters",
  "a + O=system:masters",
  "a, O=b",
  "\\",
  "\\0A",
  "\\+",
  "#0A",
  " a ",
  "a/O=b",
  '"',
  ";",
  "<>",
  "é",
  "👩",
  "\t",
  "\u0001",
];

/** The subject of a certificate: the parsed values are those that were written, and nothing else. */
export const certificateSubjects = defineTarget({
  name: "certificate-subject",
  generate: (chance): DistinguishedName =>
    chance.list(1 + chance.below(4), () => ({ attribute: chance.pick(["CN", "O"] as const), value: textOf(chance) })),
  declares: (error) => error instanceof Error && "code" in error && String(error.code).startsWith("ERR_OSSL"),
  run(subject) {
    const certificate = new X509Certificate(
      writeCertificate({
        subject,
        publicKey: certificateKeys.publicKey,
        signingKey: certificateKeys.privateKey,
        notBeforeMs: 0,
        notAfterMs: 1e12,
      }),
    );
    const { commonName, organizations } = subjectOf(certificate);
    const valuesOf = (name: string): string[] =>
      subject.filter(({ attribute }) => attribute === name).map(({ value }) => value);
    if (commonName !== (valuesOf("CN").at(-1) ?? "")) return `the name is read as ${JSON.stringify(commonName)}`;
    return JSON.stringify(organizations) === JSON.stringify(valuesOf("O"))
      ? undefined
      : `the groups are read as ${JSON.stringify(organizations)}`;
  },
});

const textOf = (chance: Chance): string => {
  const text = chance.oneIn(2)
    ? chance.pick(SUBJECT_TEXTS)
    : mutateText(chance, chance.pick(SUBJECT_TEXTS), SUBJECT_TEXTS);
  return text.toWellFormed().slice(0, 60).toWellFormed().replaceAll("\u0000", "");
};

export const derValues = defineTarget({
  name: "der",
  generate(chance) {
    const leaf = (): Uint8Array =>
      chance.pick([
        der.integer(Buffer.from([chance.below(256)])),
        der.utf8(chance.pick(HOSTILE_TEXTS)),
        der.boolean(true),
        der.bytes(Buffer.alloc(chance.size(70_000))),
        der.identifier("2.5.4.3"),
      ]);
    const parts = chance.list(chance.size(6), leaf);
    return { parts, bytes: mutateBytes(chance, der.sequence(...parts)) };
  },
  declares: (error) => error instanceof DerError,
  run({ parts, bytes }) {
    const children = derItems(readDer(der.sequence(...parts)));
    if (
      children.length !== parts.length ||
      children.some(({ whole }, index) => Buffer.compare(whole, parts[index] ?? Buffer.alloc(0)) !== 0)
    )
      return "the written value is read differently";
    derItems(readDer(bytes));
    return undefined;
  },
});

const REQUEST_KEYS = generateKeyPairSync("ec", { namedCurve: "P-256" });
const REQUEST_BYTES = Buffer.from(
  writeCertificateRequest({ subject: { O: ["dev"], CN: ["jane"] }, ...REQUEST_KEYS })
    .split("\n")
    .slice(1, -2)
    .join(""),
  "base64",
);

/** A damaged request is rejected: no certificate is issued for a subject that the signature does not cover. */
export const certificateRequests = defineTarget({
  name: "certificate-request",
  generate: (chance) => mutateBytes(chance, REQUEST_BYTES),
  declares: (error) => error instanceof CertificateRequestError,
  run(bytes) {
    const { commonName, organizations } = parseCertificateRequest(
      Buffer.from(writePem("CERTIFICATE REQUEST", bytes)).toString("base64"),
    );
    return commonName === "jane" && organizations.join() === "dev"
      ? undefined
      : "a request is read with another subject";
  },
});

const TIMES = [
  "2024-05-01T12:00:00Z",
  "2024-02-29T23:59:59.999999Z",
  "2024-05-01T12:00:00+14:00",
  "0001-01-01T00:00:00Z",
  "2024-05-01T12:00:00.123456-07:00",
  "9999-12-31T23:59:60Z",
];

export const times = defineTarget({
  name: "time",
  generate: (chance) =>
    mutateText(chance, chance.pick(TIMES), ["Z", "T", ":", "-", "+", ".", ",", "00", "24:00", "60", "z", "t", " "]),
  declares: () => false,
  run(text) {
    const problems = [timeProblem(text, false), timeProblem(text, true)];
    if (problems.includes("")) return "rejected without a reason";
    // A date that JavaScript accepts too, in the common format, is valid for both.
    const isPlain = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text);
    if (!isPlain) return undefined;
    // JavaScript accepts the 31st of any month, and turns it into the first of the next.
    const isKnown = !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text.slice(0, 10));
    return (problems[0] === undefined) === isKnown
      ? undefined
      : `JavaScript ${isKnown ? "accepts" : "rejects"} it, but our parser returns: ${problems[0] ?? "it is a time"}`;
  },
});

const QUERIES = [
  "dryRun=All&fieldManager=kubectl&fieldValidation=Strict",
  "watch=true&resourceVersion=5&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
  "limit=500&continue=abc&timeoutSeconds=60",
  "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&timeout=1m30s",
  "force=true&fieldManager=x&timeout=1h",
];
const QUERY_WORDS = [
  "&",
  "=",
  "%",
  "%00",
  "%ff",
  "+",
  "dryRun=",
  "watch=0",
  "limit=-1",
  "limit=1e9",
  "timeout=",
  "resourceVersion=",
  "resourceVersionMatch=Exact",
  "18446744073709551616",
  "9999999h",
  "force=",
  "__proto__=",
];

export const queryOptions = defineTarget({
  name: "query-options",
  generate: (chance) => mutateText(chance, chance.pick(QUERIES), QUERY_WORDS),
  // The real server also answers an invalid resourceVersion with 500.
  declares: (error) =>
    error instanceof ApiError && (error.status.code < 500 || error.message.startsWith("resourceVersion: ")),
  run(text) {
    const query = new URLSearchParams(text);
    const timeoutMs = timeoutMsOf(query, 60_000);
    if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs < 60_000)) return `a timeout of ${timeoutMs} ms`;
    const number = integerOf(query.get("limit"));
    if (number !== undefined && !Number.isSafeInteger(number)) return "a limit that is not an integer";
    parseRevision(query.get("resourceVersion") ?? "", "get");
    const { fieldManager } = writeOptions(
      { query, userAgent: "fuzz/1", user: { name: "ann", groups: [] }, byController: false } as unknown as Parameters<
        typeof writeOptions
      >[0],
      "PatchOptions",
      query.has("force"),
    );
    if (Buffer.byteLength(fieldManager) > 128) return "a field manager name that is too long";
    const { resourceVersion } = listQuery(query, asksForWatch(query));
    return resourceVersion === undefined || Number.isSafeInteger(resourceVersion)
      ? undefined
      : "a resourceVersion that is not an integer";
  },
});

const LINES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].map(
  (type) =>
    `${JSON.stringify({ type, object: type === "ERROR" ? { kind: "Status", code: 410, message: "é" } : deployment })}\n`,
);

export const watchLines = defineTarget({
  name: "watch-lines",
  generate(chance) {
    const text = chance.list(1 + chance.below(4), () => chance.pick(LINES)).join("");
    const bytes = chance.oneIn(2)
      ? mutateBytes(chance, Buffer.from(text))
      : Buffer.from(mutateText(chance, text, ["\n", "\r\n", "{}", "null", '{"type":"ADDED"}\n', "\u2028"]));
    return {
      bytes,
      cuts: chance.list(chance.size(30), () => chance.below(bytes.length + 1)).toSorted((a, b) => a - b),
    };
  },
  declares: () => false,
  run({ bytes, cuts }) {
    const whole = readWatch([bytes]);
    const cut = readWatch([...cuts, bytes.length].map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end)));
    if (whole.failure && !(whole.failure instanceof ApiError || whole.failure instanceof UnreachableError))
      return `fails with ${whole.failure.name}`;
    return JSON.stringify(whole.events) === JSON.stringify(cut.events) &&
      whole.failure?.message === cut.failure?.message
      ? undefined
      : "the same bytes in other chunks are other events";
  },
});

function readWatch(pieces: readonly Uint8Array[]): { events: unknown[]; failure?: Error } {
  const decoder = createWatchDecoder();
  const events: unknown[] = [];
  for (const piece of pieces) {
    const { events: more, failure } = decoder.push(piece);
    events.push(...more);
    if (failure) return { events, failure };
  }
  return { events };
}
