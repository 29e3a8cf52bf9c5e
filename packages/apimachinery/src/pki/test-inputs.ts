/**
 * Certificate requests and certificates for comparisons with other implementations: valid ones with every kind of
 * name, and damaged ones. The same seed gives the same structure; only keys and ECDSA signatures differ.
 */
import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import type { createSeededRandom } from "@flotilla/base";
import { der } from "./der-writer.ts";
import { assembleCertificate, EXTENSION, extension, writeCertificate } from "./x509.ts";

type Random = ReturnType<typeof createSeededRandom>;

/** DER of one input. */
export interface PkiInput {
  kind: "request" | "certificate";
  /** As generated: it must be accepted by everyone. */
  isIntact: boolean;
  bytes: Uint8Array;
}

const KEYS = {
  ec: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ed25519: generateKeyPairSync("ed25519"),
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const ALGORITHMS = {
  ec: { identifier: "1.2.840.10045.4.3.2", digest: "sha256", parameters: [] },
  ed25519: { identifier: "1.3.101.112", digest: null, parameters: [] },
  rsa: { identifier: "1.2.840.113549.1.1.11", digest: "sha256", parameters: [der.tagged(0x05)] },
} as const;
export const AUTHORITY = {
  certificate: writeCertificate({
    subject: [{ attribute: "CN", value: "authority" }],
    publicKey: KEYS.ec.publicKey,
    signingKey: KEYS.ec.privateKey,
    notBeforeMs: Date.parse("2020-01-01T00:00:00Z"),
    notAfterMs: Date.parse("2060-01-01T00:00:00Z"),
  }),
  key: KEYS.ec.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
};

const ATTRIBUTES = ["2.5.4.6", "2.5.4.10", "2.5.4.11", "2.5.4.7", "2.5.4.8", "2.5.4.3", "2.5.4.5", "2.5.4.12"];
const UTF8 = 0x0c;
const STRINGS = { utf8: UTF8, printable: 0x13, ia5: 0x16, numeric: 0x12, teletex: 0x14, bmp: 0x1e } as const;
const VALUES = [
  "jane",
  "system:masters",
  "a, O=b",
  "a + O=b",
  "x=y",
  '"q"',
  "back\\slash",
  "#1",
  " edge ",
  "é",
  "日本",
];
const PLAIN = ["jane", "dev team", "A-1", "42"];
const DNS = ["web.shop", "*.example.com", "xn--bcher-kva.example", "a"];
const USAGE_BITS = [0x80, 0x20, 0xa0, 0x86];
const EXTENDED = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];

export function makeInput(random: Random): PkiInput {
  const choose = chooserOf(random);
  const isIntact = choose.below(3) === 0;
  if (choose.below(2) === 0) {
    const type = choose.pick(["ec", "ed25519", "rsa"] as const);
    const contents = requestContents(choose, KEYS[type].publicKey, isIntact);
    // Damage below the signature reaches the parser only if it is signed.
    const isSigned = isIntact || choose.below(3) > 0;
    const bytes = isSigned
      ? signedRequest(isIntact ? contents : damage(choose, contents), type)
      : damage(choose, signedRequest(contents, type));
    return { kind: "request", isIntact, bytes };
  }
  const bytes = certificate(choose, isIntact);
  return { kind: "certificate", isIntact, bytes: isIntact ? bytes : damage(choose, bytes) };
}

function requestContents(choose: Chooser, publicKey: KeyObject, isIntact: boolean): Buffer {
  const extensions = [
    ...(choose.below(2) ? [extension(EXTENSION.alternativeNames, alternativeNames(choose))] : []),
    ...(choose.below(3) ? [] : [extension(EXTENSION.keyUsage, der.bits(Buffer.from([0xa0]), 5), true)]),
  ];
  const attributes =
    extensions.length === 0
      ? []
      : [der.sequence(der.identifier("1.2.840.113549.1.9.14"), der.set(der.sequence(...extensions)))];
  return der.sequence(
    der.integer(Buffer.from([0])),
    name(choose, isIntact),
    publicKey.export({ type: "spki", format: "der" }),
    der.tagged(0xa0, ...attributes),
  );
}

function signedRequest(contents: Uint8Array, type: keyof typeof ALGORITHMS): Buffer {
  const { identifier, digest, parameters } = ALGORITHMS[type];
  return der.sequence(
    contents,
    der.sequence(der.identifier(identifier), ...parameters),
    der.bits(sign(digest, contents, KEYS[type].privateKey)),
  );
}

function certificate(choose: Chooser, isIntact: boolean): Buffer {
  const notBeforeMs = Date.parse("2024-01-01T00:00:00Z") + choose.below(10_000) * 60_000;
  const usage = choose.pick(USAGE_BITS);
  const pem = assembleCertificate({
    issuerName: name(choose, isIntact),
    name: name(choose, isIntact),
    publicBytes: createPublicKey(AUTHORITY.certificate).export({ type: "spki", format: "der" }),
    notBeforeMs,
    // Beyond 2049 the date is written in its long form.
    notAfterMs: notBeforeMs + choose.below(15_000) * 86_400_000,
    extensions: [
      extension(EXTENSION.basicConstraints, der.sequence(), true),
      extension(EXTENSION.keyUsage, der.bits(Buffer.from([usage]), Math.log2(usage & -usage)), true),
      extension(EXTENSION.extendedUsage, der.sequence(der.identifier(choose.pick(EXTENDED)))),
      ...(choose.below(2) ? [extension(EXTENSION.alternativeNames, alternativeNames(choose))] : []),
    ],
    signingKey: KEYS.ec.privateKey,
  });
  return Buffer.from(pem.split("\n").slice(1, -2).join(""), "base64");
}

/** Damaged inputs also have types of strings that we reject. */
function name(choose: Chooser, isIntact: boolean): Buffer {
  const attribute = (): Buffer => {
    const type =
      isIntact || choose.below(4) > 0 ? choose.pick(["utf8", "utf8", "printable"] as const) : anyString(choose);
    const value = type === "utf8" ? choose.pick(VALUES) : choose.pick(PLAIN);
    const content = type === "bmp" ? Buffer.from(value, "utf16le").swap16() : Buffer.from(value);
    return der.sequence(der.identifier(choose.pick(ATTRIBUTES)), der.tagged(STRINGS[type], content));
  };
  return der.sequence(
    ...Array.from({ length: 1 + choose.below(4) }, () =>
      der.set(...Array.from({ length: 1 + choose.below(2) }, attribute).toSorted(Buffer.compare)),
    ),
  );
}

const anyString = (choose: Chooser): keyof typeof STRINGS => choose.pick(["ia5", "numeric", "teletex", "bmp"] as const);

function alternativeNames(choose: Chooser): Buffer {
  const make = [
    () => der.tagged(0x82, Buffer.from(choose.pick(DNS))),
    () => der.tagged(0x81, Buffer.from("jane@example.com")),
    () => der.tagged(0x86, Buffer.from("spiffe://cluster/ns/shop")),
    () => der.tagged(0x87, Buffer.from([10, 0, choose.below(256), 1])),
    () => der.tagged(0x87, Buffer.from([0xfd, ...Array.from({ length: 15 }, () => choose.below(256))])),
  ];
  return der.sequence(...Array.from({ length: 1 + choose.below(4) }, () => choose.pick(make)()));
}

interface Chooser {
  below(bound: number): number;
  pick<T>(items: readonly T[]): T;
}

function chooserOf(random: Random): Chooser {
  const below = (bound: number): number => Math.floor(random.next() * bound);
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}

/** One to three changes: a flipped bit, another byte, a byte more or less, an end too early. */
function damage(choose: Chooser, bytes: Uint8Array): Buffer {
  let result = Buffer.from(bytes);
  for (let left = 1 + choose.below(3); left > 0; left--) {
    const at = choose.below(result.length);
    const [head, tail] = [result.subarray(0, at), result.subarray(at + 1)];
    const byte = result[at] ?? 0;
    result = choose.pick([
      () => Buffer.concat([head, Buffer.from([byte ^ (1 << choose.below(8))]), tail]),
      () => Buffer.concat([head, Buffer.from([choose.below(256)]), tail]),
      () => Buffer.concat([head, Buffer.from([choose.below(256), byte]), tail]),
      () => Buffer.concat([head, tail]),
      () => Buffer.from(choose.below(4) ? result : head),
    ])();
  }
  return result;
}
