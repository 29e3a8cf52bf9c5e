import { X509Certificate, createPrivateKey } from "node:crypto";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createCertificateAuthority } from "./authority.ts";
import { partsOf } from "./certificate-parts.ts";
import { DER, DerError } from "./der-reader.ts";
import { der } from "./der-writer.ts";
import { readCertificate } from "./read-certificate.ts";
import { assembleCertificate, EXTENSION, extension } from "./x509.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const authority = await createCertificateAuthority({ clock: createFakeClock(START_MS) });

/** A certificate with these extensions, and the authority's key. The name is the authority's unless another is given. */
function signed(extensions: readonly Uint8Array[], notAfterMs = START_MS, name?: Uint8Array): X509Certificate {
  const issuing = new X509Certificate(authority.certificate);
  const { subject } = partsOf(issuing);
  return new X509Certificate(
    assembleCertificate({
      issuerName: subject.whole,
      name: name ?? subject.whole,
      publicBytes: issuing.publicKey.export({ type: "spki", format: "der" }),
      notBeforeMs: START_MS,
      notAfterMs,
      extensions,
      signingKey: createPrivateKey(authority.key),
    }),
  );
}

test("names and usages are read", () => {
  const { names, usages } = readCertificate(
    signed([
      extension(EXTENSION.alternativeNames, der.sequence(der.tagged(0x82, Buffer.from("web.shop")))),
      extension(EXTENSION.extendedUsage, der.sequence(der.identifier("1.3.6.1.5.5.7.3.2"))),
    ]),
  );

  expect([names.dnsNames, usages]).toEqual([["web.shop"], ["1.3.6.1.5.5.7.3.2"]]);
});

const malformed: Record<string, readonly Uint8Array[]> = {
  "a truncated extension": [extension(EXTENSION.extendedUsage, Buffer.from([0x30, 9, 6, 1]))],
  "a truncated value inside an extension": [extension("1.2.3.4", der.sequence(Buffer.from([0x30, 9, 6])))],
  "a usage that is not an identifier": [extension(EXTENSION.extendedUsage, der.sequence(der.utf8("server")))],
  "a DNS name that is not ASCII": [
    extension(EXTENSION.alternativeNames, der.sequence(der.tagged(0x82, Buffer.from("é")))),
  ],
  "basic constraints of another type": [extension(EXTENSION.basicConstraints, der.sequence(der.utf8("yes")))],
  "a key usage of more unused bits than a byte has": [
    extension(EXTENSION.keyUsage, Buffer.from([DER.bits, 2, 0xaa, 0x86])),
  ],
  "a key usage whose unused bits are set": [extension(EXTENSION.keyUsage, der.bits(Buffer.from([0x86]), 2))],
  "a key usage without a byte for its unused bits": [extension(EXTENSION.keyUsage, Buffer.from([DER.bits, 0]))],
  "an alternative name of a type that does not exist": [
    extension(EXTENSION.alternativeNames, der.sequence(der.tagged(0x89, Buffer.from("web.shop")))),
  ],
  "a malformed alternative name of a type that is not used": [
    extension(EXTENSION.alternativeNames, der.sequence(der.tagged(0xa0, Buffer.from("web.shop")))),
  ],
  "a NUL byte in a DNS name": [
    extension(EXTENSION.alternativeNames, der.sequence(der.tagged(0x82, Buffer.from("web.shop\0.example")))),
  ],
  "a critical flag that is neither true nor false": [
    der.sequence(
      der.identifier(EXTENSION.keyUsage),
      Buffer.from([DER.boolean, 1, 7]),
      der.bytes(der.bits(Buffer.from([0x80]), 7)),
    ),
  ],
  "an extension that occurs twice": [extension("1.2.3.4", der.utf8("a")), extension("1.2.3.4", der.utf8("b"))],
};
test.each(Object.entries(malformed))("a certificate with %s is rejected", (_what, extensions) => {
  expect(() => readCertificate(signed(extensions))).toThrow(DerError);
});

const nameOf = (tag: number, text: string): Buffer =>
  der.sequence(der.set(der.sequence(der.identifier("2.5.4.10"), der.tagged(tag, Buffer.from(text, "latin1")))));

const RELATIVE_IDENTIFIER = 13;
const names: Record<string, { tag: number; text: string; want: string }> = {
  "a PrintableString with an underscore": {
    tag: DER.printable,
    text: "a_b",
    want: "a part of the subject has characters that PrintableString does not allow",
  },
  "a NumericString with a letter": {
    tag: DER.numeric,
    text: "a",
    want: "a part of the subject has characters that NumericString does not allow",
  },
  "an IA5String that is not ASCII": { tag: DER.ia5, text: "é", want: "a part of the subject is not ASCII" },
  "a string of another type": {
    tag: RELATIVE_IDENTIFIER,
    text: "1",
    want: "a part of the subject has an unsupported type; encode it as UTF-8",
  },
};
test.each(Object.entries(names))("a subject with %s is rejected, as by Go", (_what, { tag, text, want }) => {
  expect(() => readCertificate(signed([], START_MS, nameOf(tag, text)))).toThrow(want);
});

test("older types of strings are read in the subject of a certificate", () => {
  const organizationOf = (tag: number, text: string): string | undefined =>
    readCertificate(signed([], START_MS, nameOf(tag, text))).organizations[0];

  expect([organizationOf(DER.teletex, "é"), organizationOf(DER.bmp, "\0a\0b")]).toEqual(["é", "ab"]);
});

test("a certificate with a set without attributes in its subject is rejected", () => {
  expect(() => readCertificate(signed([], START_MS, der.sequence(der.set())))).toThrow(
    "a part of the subject is empty",
  );
});

const structures: Record<string, { from: string; to: string; want: string }> = {
  "of a version that does not exist": { from: "a003020102", to: "a003020103", want: "the version is not supported" },
  "with a negative serial number": { from: "0201020210", to: "020102021080", want: "the serial number is negative" },
  "that names another algorithm in its signed part": {
    from: "300a06082a8648ce3d040302",
    to: "300a06082a8648ce3d040303",
    want: "the two algorithms of the signature differ",
  },
};
test.each(Object.entries(structures))("a certificate %s is rejected, as by Go", (_what, { from, to, want }) => {
  const bytes = Buffer.from(signed([]).raw);
  bytes.write(to, bytes.indexOf(from, 0, "hex"), "hex");

  expect(() => readCertificate(new X509Certificate(bytes))).toThrow(want);
});

test.each([Date.parse("2049-12-31T23:59:59Z"), Date.parse("2050-01-01T00:00:00Z")])(
  "the end of the validity is read in both of its forms",
  (notAfterMs) => {
    expect(readCertificate(signed([], notAfterMs))).toMatchObject({ notBeforeMs: START_MS, notAfterMs });
  },
);

test.each(["260231000000Z", "26010100000xZ", "2601010000000"])("the time %s is rejected", (text) => {
  const bytes = Buffer.from(signed([]).raw);
  bytes.write(text, bytes.indexOf("260101000000Z"));

  expect(() => readCertificate(new X509Certificate(bytes))).toThrow("a time of the validity is malformed");
});
