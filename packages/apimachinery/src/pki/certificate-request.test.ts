import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { describe, expect, test } from "vitest";
import { CertificateRequestError, MAX_REQUEST_BYTES, parseCertificateRequest } from "./certificate-request.ts";
import { der } from "./der-writer.ts";
import { writePem } from "./pem.ts";
import { makeRequest } from "./test-requests.ts";
import { writeSubject } from "./write-request.ts";
import { EXTENSION, extension } from "./x509.ts";

/** A bit string whose last byte has twelve unused bits. */
const UNUSED_BITS = Buffer.from([0x03, 0x02, 0x0c, 0xa0]);

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ECDSA = der.sequence(der.identifier("1.2.840.10045.4.3.2"));

interface Parts {
  version?: Buffer;
  subject?: Buffer;
  key?: Buffer;
  attributes?: Buffer;
  algorithm?: Buffer;
  signer?: KeyObject;
  digest?: string | null;
}

/** Assembles a request from its parts, so that a test can break one of them. */
function assemble({
  version = der.integer(Buffer.from([0])),
  subject = writeSubject({ CN: ["jane"] }),
  key = pair.publicKey.export({ type: "spki", format: "der" }),
  attributes = der.tagged(0xa0),
  algorithm = ECDSA,
  signer = pair.privateKey,
  digest = "sha256",
}: Parts): string {
  const contents = der.sequence(version, subject, key, attributes);
  return base64(
    writePem("CERTIFICATE REQUEST", der.sequence(contents, algorithm, der.bits(sign(digest, contents, signer)))),
  );
}

const nameOf = (identifier: string, value: Buffer): Buffer =>
  der.sequence(der.set(der.sequence(der.identifier(identifier), value)));
const requested = (identifier: string, value: Buffer): Buffer =>
  der.sequence(der.identifier("1.2.840.113549.1.9.14"), der.set(der.sequence(extension(identifier, value))));
const alternativeNames = (...names: Buffer[]): Buffer =>
  der.tagged(0xa0, requested(EXTENSION.alternativeNames, der.sequence(...names)));
const curve = (namedCurve: string): { key: Buffer; signer: KeyObject } => {
  const keys = generateKeyPairSync("ec", { namedCurve });
  return { key: keys.publicKey.export({ type: "spki", format: "der" }), signer: keys.privateKey };
};
const rsa = (modulusLength: number): { key: Buffer; signer: KeyObject } => {
  const keys = generateKeyPairSync("rsa", { modulusLength });
  return { key: keys.publicKey.export({ type: "spki", format: "der" }), signer: keys.privateKey };
};

describe("parses a certificate request", () => {
  test("parses a certificate request with a common name, organizations and organizational units", () => {
    const { commonName, organizations, subject } = parseCertificateRequest(
      makeRequest({ O: ["b", "a"], OU: ["u"], CN: ["jane"] }),
    );

    expect({ commonName, organizations, subject }).toEqual({
      commonName: "jane",
      organizations: ["a", "b"],
      subject: { O: ["a", "b"], OU: ["u"], CN: ["jane"] },
    });
  });

  test("parses a certificate request without a subject", () => {
    expect(parseCertificateRequest(makeRequest({}))).toMatchObject({ commonName: "", organizations: [], dnsNames: [] });
  });

  test("parses a certificate request with subject alternative names", () => {
    const attributes = alternativeNames(
      der.tagged(0x82, Buffer.from("a.example")),
      der.tagged(0x81, Buffer.from("j@example")),
      der.tagged(0x87, Buffer.from([10, 0, 0, 1])),
      der.tagged(0x86, Buffer.from("spiffe://x")),
    );

    const { dnsNames, emailAddresses, ipAddresses, uris } = parseCertificateRequest(assemble({ attributes }));

    expect({ dnsNames, emailAddresses, uris, ip: ipAddresses.map((address) => [...address]) }).toEqual({
      dnsNames: ["a.example"],
      emailAddresses: ["j@example"],
      uris: ["spiffe://x"],
      ip: [[10, 0, 0, 1]],
    });
  });

  test("names that a certificate request has in addition, of types that are not used, are dropped", () => {
    const directoryName = der.tagged(0xa4, nameOf("2.5.4.3", der.utf8("web")));
    const registeredId = der.tagged(0x88, Buffer.from([0x2a, 3]));
    const attributes = alternativeNames(directoryName, registeredId, der.tagged(0x82, Buffer.from("a.example")));

    expect(parseCertificateRequest(assemble({ attributes })).dnsNames).toEqual(["a.example"]);
  });

  test("attributes of the subject that are dropped need not be strings, as in Go", () => {
    const subject = nameOf("2.5.4.45", der.bits(Buffer.from([1])));

    expect(parseCertificateRequest(assemble({ subject })).subject).toEqual({});
  });

  test("parses a certificate request when text precedes the PEM block", () => {
    const text = Buffer.from(makeRequest({ CN: ["jane"] }), "base64").toString();

    expect(parseCertificateRequest(base64(`hello\n${text}`)).commonName).toBe("jane");
  });

  const keys: Record<string, () => Parts> = {
    "of P-384": () => ({
      ...curve("P-384"),
      algorithm: der.sequence(der.identifier("1.2.840.10045.4.3.3")),
      digest: "sha384",
    }),
    "of RSA": () => ({
      ...rsa(2048),
      algorithm: der.sequence(der.identifier("1.2.840.113549.1.1.11"), der.tagged(0x05)),
    }),
    "of Ed25519": () => {
      const ed = generateKeyPairSync("ed25519");
      return {
        key: ed.publicKey.export({ type: "spki", format: "der" }),
        signer: ed.privateKey,
        digest: null,
        algorithm: der.sequence(der.identifier("1.3.101.112")),
      };
    },
  };
  for (const [what, parts] of Object.entries(keys)) {
    test(`with a key ${what}`, () => {
      expect(parseCertificateRequest(assemble(parts())).commonName).toBe("jane");
    });
  }
});

describe("rejects a certificate request", () => {
  const cases: Record<string, { request: () => string; want: RegExp }> = {
    "that is empty text": { request: () => "", want: /^PEM block type must be CERTIFICATE REQUEST$/ },
    "that is not PEM": { request: () => base64("jane"), want: /^PEM block type must be/ },
    "with another PEM label": {
      request: () => base64(writePem("CERTIFICATE", Buffer.from([0]))),
      want: /^PEM block type must be/,
    },
    "with the old PEM label NEW CERTIFICATE REQUEST": {
      request: () => base64(writePem("NEW CERTIFICATE REQUEST", Buffer.from([0]))),
      want: /^PEM block type must be/,
    },
    "with invalid base64": {
      request: () => base64("-----BEGIN CERTIFICATE REQUEST-----\n%%%%\n-----END CERTIFICATE REQUEST-----\n"),
      want: /^PEM block type must be/,
    },
    "that is too long": { request: () => base64("x".repeat(MAX_REQUEST_BYTES + 1)), want: /longer than 65536 bytes/ },
    "that is not DER": {
      request: () => base64(writePem("CERTIFICATE REQUEST", Buffer.from("jane"))),
      want: /cannot be read/,
    },
    "with an empty PEM block": {
      request: () => base64(writePem("CERTIFICATE REQUEST", Buffer.alloc(0))),
      want: /it is truncated/,
    },
    "of another version": {
      request: () => assemble({ version: der.integer(Buffer.from([1])) }),
      want: /only version 1 is supported/,
    },
    "signed with another key": {
      request: () => assemble({ signer: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }),
      want: /not signed with its own key/,
    },
    "with a signature algorithm of another key type": {
      request: () => assemble({ algorithm: der.sequence(der.identifier("1.2.840.113549.1.1.11")) }),
      want: /not signed with its own key/,
    },
    "with an unknown signature algorithm": {
      request: () => assemble({ algorithm: der.sequence(der.identifier("1.2.3")) }),
      want: /algorithm 1\.2\.3 is not supported/,
    },
    "with a damaged key": { request: () => assemble({ key: der.sequence() }), want: /public key .* cannot be read/ },
    "with an unsupported curve": {
      request: () => assemble(curve("secp256k1")),
      want: /curve "secp256k1" are not supported/,
    },
    "with a short RSA key": {
      request: () => assemble({ ...rsa(512), algorithm: der.sequence(der.identifier("1.2.840.113549.1.1.11")) }),
      want: /1024 to 8192 bits, not 512/,
    },
    "with an organization in an unusual string type": {
      request: () => assemble({ subject: nameOf("2.5.4.10", der.tagged(0x1e, Buffer.from("\0a", "latin1"))) }),
      want: /control characters|unusual type/,
    },
    "with an organization as TeletexString": {
      request: () => assemble({ subject: nameOf("2.5.4.10", der.tagged(0x14, Buffer.from("system:masters"))) }),
      want: /unsupported type/,
    },
    "with a common name that is not UTF-8": {
      request: () => assemble({ subject: nameOf("2.5.4.3", der.tagged(0x0c, Buffer.from([0xc3]))) }),
      want: /is not UTF-8/,
    },
    "with a NUL byte in the common name": {
      request: () => assemble({ subject: nameOf("2.5.4.3", der.utf8("system:admin\0x")) }),
      want: /control characters/,
    },
    "with a NumericString that has letters": {
      request: () => assemble({ subject: nameOf("2.5.4.10", der.tagged(0x12, Buffer.from("dev"))) }),
      want: /characters that NumericString does not allow/,
    },
    "with a PrintableString that is not one, in an attribute that is dropped": {
      request: () => assemble({ subject: nameOf("2.5.4.12", der.tagged(0x13, Buffer.from("é"))) }),
      want: /characters that PrintableString does not allow/,
    },
    "with an alternative name of a type that does not exist": {
      request: () => assemble({ attributes: alternativeNames(der.tagged(0x89, Buffer.from("web.shop"))) }),
      want: /type that does not exist/,
    },
    "with a key usage that is not a bit string": {
      request: () => assemble({ attributes: der.tagged(0xa0, requested(EXTENSION.keyUsage, UNUSED_BITS)) }),
      want: /the key usage is not a valid bit string/,
    },
    "that requests extensions twice": {
      request: () => {
        const usage = requested(EXTENSION.keyUsage, der.bits(Buffer.from([0xa0]), 5));
        return assemble({ attributes: der.tagged(0xa0, usage, usage) });
      },
      want: /extensions are requested twice/,
    },
    "with an IP address of five bytes": {
      request: () => assemble({ attributes: alternativeNames(der.tagged(0x87, Buffer.alloc(5))) }),
      want: /4 or 16 bytes, not 5/,
    },
  };
  for (const [what, { request, want }] of Object.entries(cases)) {
    test(what, () => {
      const parse = (): unknown => parseCertificateRequest(request());

      expect(parse).toThrow(CertificateRequestError);
      expect(parse).toThrow(want);
    });
  }

  test("truncated at any byte", () => {
    const whole = Buffer.from(
      Buffer.from(makeRequest({ CN: ["jane"] }), "base64")
        .toString()
        .split("\n")
        .slice(1, -2)
        .join(""),
      "base64",
    );

    for (let length = 0; length < whole.length; length++) {
      expect(() => parseCertificateRequest(base64(writePem("CERTIFICATE REQUEST", whole.subarray(0, length))))).toThrow(
        CertificateRequestError,
      );
    }
  });
});
