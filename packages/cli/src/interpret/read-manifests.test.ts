import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readManifests } from "./read-manifests.ts";
import type { ManifestNames } from "./read-manifests.ts";

const folder = mkdtempSync(join(tmpdir(), "flotilla-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program in place of kubectl. */
function fakeKubectl(script: string): string {
  const path = join(folder, "kubectl");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const read = (names: Partial<ManifestNames>, kubectl: string) =>
  readManifests(
    { filename: [], recursive: false, kustomize: undefined, ...names },
    {
      readInput: () => Promise.resolve(""),
      signal: new AbortController().signal,
      environment: { KUBECTL: kubectl },
    },
  );

describe.skipIf(process.platform === "win32")("-k", () => {
  test("reads what 'kubectl kustomize' builds", async () => {
    const kubectl = fakeKubectl(
      'test "$1" = kustomize && printf "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: ' +
        '$2}\\n---\\napiVersion: v1\\nkind: Secret\\nmetadata: {name: b}\\n"',
    );

    const manifests = await read({ kustomize: "overlay" }, kubectl);

    expect(manifests).toMatchObject([
      { kind: "ConfigMap", metadata: { name: "overlay" } },
      { kind: "Secret", metadata: { name: "b" } },
    ]);
  });

  test("reports why kustomize failed", async () => {
    const kubectl = fakeKubectl('echo "error: unable to find kustomization.yaml" >&2; exit 1');

    await expect(read({ kustomize: "overlay" }, kubectl)).rejects.toThrow(
      "kubectl kustomize overlay: error: unable to find kustomization.yaml",
    );
  });

  test("needs kubectl", async () => {
    await expect(read({ kustomize: "overlay" }, "")).rejects.toThrow(
      "building overlay needs kubectl, which contains kustomize, and kubectl was not found; install it",
    );
  });

  test("excludes -f", async () => {
    await expect(read({ kustomize: "overlay", filename: ["a.yaml"] }, "")).rejects.toThrow(
      "use either -f or -k, not both",
    );
  });

  test("reports a kustomization without objects", async () => {
    await expect(read({ kustomize: "overlay" }, fakeKubectl("true"))).rejects.toThrow("overlay contains no objects");
  });
});
