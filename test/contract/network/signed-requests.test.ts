/** Certificates signed for CertificateSigningRequests, from the request to the user that the server authenticates. */
import { X509Certificate, generateKeyPairSync } from "node:crypto";
import https from "node:https";
import { expect, test } from "vitest";
import {
  boundsOf,
  createCertificateAuthority,
  openCertificateAuthority,
  parseCertificateRequest,
  readCertificate,
  subjectOf,
  writeCertificateRequest,
} from "@flotilla/apimachinery";
import type { CertificateRequest, RequestSubject } from "@flotilla/apimachinery";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { createAuthenticator } from "../../../packages/apiserver/src/http/authenticator.ts";
import { createHttpServer } from "../../../packages/apiserver/src/http/server.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const USAGES = ["digital signature", "key encipherment", "client auth"];

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const requestFor = (subject: RequestSubject): CertificateRequest =>
  parseCertificateRequest(Buffer.from(writeCertificateRequest({ subject, ...keys })).toString("base64"));

async function sign(
  request: CertificateRequest,
  terms: { usages?: readonly string[]; lifetimeMs?: number; cluster?: string; registration?: string } = {},
  clock: Clock = createFakeClock(),
): Promise<X509Certificate> {
  const authority = await createCertificateAuthority({ clock });
  return new X509Certificate(
    authority.signRequest(request, { usages: USAGES, lifetimeMs: DAY_MS, cluster: "hub.1", ...terms }),
  );
}

test("a certificate has the requested subject, key and alternative names", async () => {
  const request: CertificateRequest = {
    ...requestFor({ O: ["a", "b"], CN: ["jane"] }),
    dnsNames: ["jane.example"],
    emailAddresses: ["j@example"],
    ipAddresses: [Uint8Array.from([10, 0, 0, 1])],
    uris: ["spiffe://x"],
  };

  const certificate = await sign(request);

  expect(subjectOf(certificate)).toEqual({ commonName: "jane", organizations: ["a", "b"] });
  expect(certificate.publicKey.equals(keys.publicKey)).toBe(true);
  expect(certificate.subjectAltName).toBe("DNS:jane.example, email:j@example, IP Address:10.0.0.1, URI:spiffe://x");
  expect(certificate.ca).toBe(false);
});

test("a signed request carries its cluster and the object it is bound to, and other certificates carry none", async () => {
  const authority = await createCertificateAuthority({ clock: createFakeClock() });
  const { certificate } = await authority.issueClient({ commonName: "admin", organizations: [] });

  const bound = { cluster: "member1.7", registration: "b6d1" };
  expect(boundsOf(readCertificate(await sign(requestFor({ CN: ["jane"] }), bound)))).toEqual(bound);
  expect(boundsOf(readCertificate(await sign(requestFor({ CN: ["jane"] }))))).toEqual({
    cluster: "hub.1",
    registration: undefined,
  });
  expect(boundsOf(readCertificate(new X509Certificate(certificate)))).toEqual({});
});

for (const text of ["a + O=system:masters", "a\\, CN=admin", 'quoted "x"', "grüße", "#lead", " space ", "a=b"]) {
  test(`the user name ${JSON.stringify(text)} is preserved exactly`, async () => {
    expect(subjectOf(await sign(requestFor({ O: [text], CN: [text] })))).toEqual({
      commonName: text,
      organizations: [text],
    });
  });
}

const lifetimes: Record<string, { lifetimeMs: number; wantMs: number }> = {
  "a short lifetime is counted from now": { lifetimeMs: HOUR_MS, wantMs: HOUR_MS },
  "a long lifetime is counted from the backdated start": { lifetimeMs: DAY_MS, wantMs: DAY_MS - 5 * 60 * 1000 },
  "the lifetime is limited to the authority's": { lifetimeMs: 100 * 365 * DAY_MS, wantMs: 3650 * DAY_MS },
};
for (const [behaviour, { lifetimeMs, wantMs }] of Object.entries(lifetimes)) {
  test(behaviour, async () => {
    const clock = createFakeClock();

    const certificate = await sign(requestFor({ CN: ["jane"] }), { lifetimeMs }, clock);

    expect(certificate.validToDate.getTime() - Math.floor(clock.now() / 1000) * 1000).toBe(wantMs);
  });
}

test("an expired authority signs nothing", async () => {
  const clock = createFakeClock();
  const authority = await createCertificateAuthority({ clock });
  clock.advance(3651 * DAY_MS);

  expect(() =>
    authority.signRequest(requestFor({ CN: ["jane"] }), { usages: USAGES, lifetimeMs: DAY_MS, cluster: "hub.1" }),
  ).toThrow(/the authority expired at/);
});

test("usages other than those of clients are rejected", async () => {
  await expect(sign(requestFor({ CN: ["jane"] }), { usages: ["server auth"] })).rejects.toThrow(
    /not issued for the usage "server auth"/,
  );
});

test("over TLS a certificate is accepted in its own cluster and for its own object only, and the error reports an expired one", async () => {
  const authority = await createCertificateAuthority({ clock: systemClock });
  const past = createFakeClock(Date.now() - 2 * DAY_MS);
  const serving = await authority.issueServing([]);
  const terms = { usages: USAGES, lifetimeMs: HOUR_MS, cluster: "hub.1" };
  const good = authority.signRequest(requestFor({ CN: ["jane"] }), terms);
  const [bound, replaced] = ["new", "old"].map((registration) =>
    authority.signRequest(requestFor({ CN: ["jane"] }), { ...terms, registration }),
  ) as [string, string];
  const old = openCertificateAuthority(authority, past).signRequest(requestFor({ CN: ["jane"] }), terms);
  const server = createHttpServer({
    handle: async ({ user }) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ name: user?.name })),
    }),
    authenticator: createAuthenticator({
      clusterPrefix: "example.com:cluster:",
      isCluster: (name, id) => `${name}.1` === id,
      isReplaced: (_cluster, _user, registration) => registration === "old",
    }),
    tls: { ...serving, clientCa: authority.certificate },
    log: silentLog,
  });
  const { port } = await server.listen(0);
  const key = keys.privateKey.export({ type: "pkcs8", format: "pem" });
  const ask = (cert: string, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const request = https.get(
        { port, host: "127.0.0.1", path, ca: authority.certificate, cert, key, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on("data", (chunk: Buffer) => chunks.push(chunk))
            .once("end", () => resolve(`${response.statusCode ?? 0} ${Buffer.concat(chunks).toString()}`));
        },
      );
      request.once("error", reject);
    });

  const answers = [await ask(good, "/api"), await ask(good, "/clusters/member1/api"), await ask(old, "/api")];
  const ofObjects = [await ask(bound, "/api"), await ask(replaced, "/api")];
  await server.close();

  expect(answers[0]).toBe('200 {"name":"jane"}');
  expect(ofObjects[0]).toBe('200 {"name":"jane"}');
  expect(ofObjects[1]).toMatch(/^401 .*"Unauthorized: the client certificate was issued for an earlier registration/);
  expect(answers[1]).toMatch(/^401 .*"message":"Unauthorized"/);
  expect(answers[2]).toMatch(
    /^401 .*"message":"Unauthorized: the client certificate expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; request a new one"/,
  );
});
