import { X509Certificate, createPrivateKey } from "node:crypto";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createCertificateAuthority } from "./authority.ts";
import { extensionsOf } from "./certificate-extensions.ts";
import { DerError } from "./der-reader.ts";
import { der } from "./der-writer.ts";
import { validityOf } from "./validity.ts";
import { assembleCertificate, contentsOf, EXTENSION, extension } from "./x509.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const authority = await createCertificateAuthority({ clock: createFakeClock(START_MS) });

/** A certificate with these extensions, and the authority's name and key. */
function signed(extensions: readonly Uint8Array[], notAfterMs = START_MS): X509Certificate {
  const [, , , name, , , key] = contentsOf(new X509Certificate(authority.certificate));
  return new X509Certificate(
    assembleCertificate({
      issuerName: name?.whole ?? der.sequence(),
      name: name?.whole ?? der.sequence(),
      publicBytes: key?.whole ?? der.sequence(),
      notBeforeMs: START_MS,
      notAfterMs,
      extensions,
      signingKey: createPrivateKey(authority.key),
    }),
  );
}

test("names and usages are read", () => {
  const { names, usages } = extensionsOf(
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
  "an extension that occurs twice": [extension("1.2.3.4", der.utf8("a")), extension("1.2.3.4", der.utf8("b"))],
};
test.each(Object.entries(malformed))("a certificate with %s is rejected", (_what, extensions) => {
  expect(() => extensionsOf(signed(extensions))).toThrow(DerError);
});

test.each([Date.parse("2049-12-31T23:59:59Z"), Date.parse("2050-01-01T00:00:00Z")])(
  "the end of the validity is read in both of its forms",
  (notAfterMs) => {
    expect(validityOf(signed([], notAfterMs))).toEqual({ notBeforeMs: START_MS, notAfterMs });
  },
);

test.each(["260231000000Z", "26010100000xZ", "2601010000000"])("the time %s is rejected", (text) => {
  const bytes = Buffer.from(signed([]).raw);
  bytes.write(text, bytes.indexOf("260101000000Z"));

  expect(() => validityOf(new X509Certificate(bytes))).toThrow("a time of the validity is malformed");
});
