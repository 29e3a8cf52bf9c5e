import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { KeyPair } from "@flotilla/apimachinery";
import { createFakeClock, silentLog, systemClock } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import { beforeEach, expect, test, vi } from "vitest";
import { openUiCertificate } from "./ui-certificate.ts";

const HUB = "hub.example.test";
const UI = "ui.example.test";

const clock = createFakeClock();
let folder: string;
let errors: number;
const log: Log = { ...silentLog, error: () => void (errors += 1) };
beforeEach(() => {
  errors = 0;
  folder = mkdtempSync(join(tmpdir(), "flotilla-test-"));
  return () => rmSync(folder, { recursive: true });
});

const files = () => ({ certificateFile: join(folder, "ui.crt"), keyFile: join(folder, "ui.key") });
function write({ certificate, key }: KeyPair): void {
  writeFileSync(files().certificateFile, certificate);
  writeFileSync(files().keyFile, key);
}
async function issue(...names: string[]): Promise<KeyPair> {
  return (await createCertificateAuthority({ clock: systemClock })).issueServing(names);
}
const open = () => openUiCertificate(files(), { hubNames: new Set([HUB, "localhost"]), clock, log });

test("names of the certificate have it, also by a wildcard, and names of the hub do not", async () => {
  write(await issue("*.example.test", HUB));

  const ui = await open();

  const named = [UI, "UI.example.test", HUB, "Hub.Example.Test", "localhost", "example.com"].map(
    (name) => ui.contextOf(name) !== undefined,
  );
  expect(named).toEqual([true, true, false, false, false, false]);
  expect(ui.names()).toContain("*.example.test");
  ui.close();
});

test("a renewed certificate is used, and one whose key is not written yet is not", async () => {
  write(await issue(UI));
  const ui = await open();
  const first = ui.contextOf(UI);
  const renewed = await issue(UI, "new.example.test");

  writeFileSync(files().certificateFile, renewed.certificate);
  clock.advance(60_000);
  await vi.waitFor(() => expect(errors).toBe(1));
  const half = ui.contextOf(UI);
  write(renewed);
  clock.advance(60_000);

  expect(half).toBe(first);
  await vi.waitFor(() => expect(ui.contextOf(UI)).not.toBe(first));
  expect(ui.names()).toContain("new.example.test");
  ui.close();
});

test("files that are missing, or do not belong together, are reported with their flags", async () => {
  const [one, other] = [await issue(UI), await issue(UI)];

  await expect(open()).rejects.toThrow(/^--ui-tls-cert and --ui-tls-key: .*ENOENT/);
  write({ certificate: one.certificate, key: other.key });
  await expect(open()).rejects.toThrow(/^--ui-tls-cert and --ui-tls-key: .*key/);
});
