import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeClock, createLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { ensureCertificates } from "./certificate-files.ts";
import type { Certificates } from "./certificate-files.ts";
import { createCertificateAuthority } from "./authority.ts";
import { subjectOf } from "./certificate-subject.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

describe("certificate authority", () => {
  test("a serving certificate is valid for localhost and the given hosts, and only for serving", async () => {
    const authority = await createCertificateAuthority({ clock: createFakeClock() });

    const certificate = new X509Certificate((await authority.issueServing(["Hub.example", "10.0.0.1"])).certificate);

    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    for (const host of ["localhost", "hub.example"]) expect(certificate.checkHost(host)).toBe(host);
    for (const address of ["127.0.0.1", "::1", "10.0.0.1"]) expect(certificate.checkIP(address)).toBe(address);
    expect(certificate.checkHost("other.example")).toBeUndefined();
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(certificate.ca).toBe(false);
  });

  const names = [
    "alice",
    "system:node:a",
    "Zoë, the first",
    "a+b=c",
    "x\\y",
    "tab\there",
    "O=system:masters",
    'x"system:masters"',
    "#0c0161",
    "日本",
  ];
  for (const name of names) {
    test(`a client certificate separates the name ${JSON.stringify(name)} from its groups`, async () => {
      const authority = await createCertificateAuthority({ clock: createFakeClock() });

      const { certificate } = await authority.issueClient({ commonName: name, organizations: ["ops", name] });

      expect(subjectOf(new X509Certificate(certificate))).toEqual({ commonName: name, organizations: ["ops", name] });
    });
  }
});

describe("certificates in a directory", () => {
  let directory: string;
  let clock: FakeClock;
  let lines: string[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "flotilla-certificates-"));
    clock = createFakeClock();
    lines = [];
  });
  afterEach(() => rm(directory, { recursive: true }));
  const ensure = (hosts: string[] = [], organizations = ["system:masters"]): Promise<Certificates> =>
    ensureCertificates({
      directory,
      hosts,
      clients: { admin: { commonName: "admin", organizations } },
      clock,
      log: createLog({ level: "debug", clock, write: (line) => lines.push(line) }),
    });

  test("are created once and kept", async () => {
    const first = await ensure(["hub.example"]);

    const second = await ensure(["hub.example"]);

    expect([second.authority.certificate, second.serving, second.clients]).toEqual([
      first.authority.certificate,
      first.serving,
      first.clients,
    ]);
    expect(await readdir(directory)).toEqual([
      "aggregated-clients-ca.pem",
      "ca.pem",
      "client-admin.pem",
      "front-proxy-ca.pem",
      "serving.pem",
    ]);
  });

  test("are readable only by their owner, even after their mode was changed", async () => {
    await ensure();
    await chmod(join(directory, "ca.pem"), 0o644);

    await ensure();

    for (const name of await readdir(directory)) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  test("keys are not logged", async () => {
    await ensure();

    expect(lines).toHaveLength(5);
    expect(lines.join("")).not.toMatch(/PRIVATE|BEGIN/);
  });

  const renewals: Record<
    string,
    {
      change: () => void;
      hosts?: string[];
      organizations?: string[];
      want: { ca: boolean; serving: boolean; admin: boolean };
    }
  > = {
    "nothing is renewed long before expiry": {
      change: () => clock.advance(330 * DAY_MS),
      want: { ca: false, serving: false, admin: false },
    },
    "leaf certificates are renewed a month before they expire": {
      change: () => clock.advance(340 * DAY_MS),
      want: { ca: false, serving: true, admin: true },
    },
    "a new certificate authority renews everything that the old one signed": {
      change: () => clock.advance(3630 * DAY_MS),
      want: { ca: true, serving: true, admin: true },
    },
    "a new host renews the serving certificate": {
      change: () => {},
      hosts: ["new.example"],
      want: { ca: false, serving: true, admin: false },
    },
    "other groups renew the client certificate": {
      change: () => {},
      organizations: ["ops"],
      want: { ca: false, serving: false, admin: true },
    },
  };
  for (const [behaviour, { change, hosts, organizations, want }] of Object.entries(renewals)) {
    test(behaviour, async () => {
      const before = await ensure();

      change();
      const after = await ensure(hosts, organizations);

      expect({
        ca: after.authority.certificate !== before.authority.certificate,
        serving: after.serving.certificate !== before.serving.certificate,
        admin: after.clients["admin"]?.certificate !== before.clients["admin"]?.certificate,
      }).toEqual(want);
    });
  }

  const damage: Record<string, (text: string, other: string) => string> = {
    "an empty file is not replaced silently": () => "",
    "a damaged certificate is not replaced silently": (text) =>
      text.replace(/(?<=BEGIN CERTIFICATE-----\n)..../, "AAAA"),
    "a certificate of another key is not replaced silently": (text, other) =>
      text.replace(/-----BEGIN CERTIFICATE[^]*/, other.slice(other.indexOf("-----BEGIN CERTIFICATE"))),
  };
  for (const [behaviour, harm] of Object.entries(damage)) {
    test(behaviour, async () => {
      await ensure();
      const path = join(directory, "ca.pem");
      await writeFile(path, harm(await readFile(path, "utf8"), await readFile(join(directory, "serving.pem"), "utf8")));

      await expect(ensure()).rejects.toMatchObject({
        code: "Certificate",
        message: expect.stringContaining("remove it to create a new one") as string,
      });
    });
  }

  test("a client name cannot escape the directory", async () => {
    const options = {
      directory,
      hosts: [],
      clients: { "../../x": { commonName: "x", organizations: [] } },
      clock,
      log: createLog({ level: "silent", clock, write: () => {} }),
    };

    await expect(ensureCertificates(options)).rejects.toMatchObject({ code: "Certificate" });
  });
});
