/** Shell completion with the shipped command, a running hub and, if installed, kubectl itself. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestContext } from "vitest";
import { fromPackage } from "@flotilla/cli";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const BIN = fileURLToPath(new URL("../../bin", import.meta.url));
const MAX_ATTEMPTS = 10;
const folder = temporaryDirectory();
let fleet: Up;

beforeAll(async () => {
  fleet = await up(join(folder.path, "fleet"), "--members", "2", "--nodes", "1", "--start-ms", "0", "--ephemeral");
  symlinkSync(join(BIN, "flotilla"), join(folder.path, "kubectl-flotilla"));
  symlinkSync(join(BIN, "kubectl_complete-flotilla"), join(folder.path, "kubectl_complete-flotilla"));
}, 60_000);
afterAll(async () => {
  await fleet.stop("SIGTERM");
  folder.remove();
});

const run = (command: string, ...args: string[]): { out: string; err: string } => {
  const { stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: `${folder.path}${delimiter}${BIN}${delimiter}${process.env["PATH"]}`,
      KUBECONFIG: fleet.kubeconfig("hub"),
    },
  });
  return { out: stdout, err: stderr };
};

/** Completion does not wait long for a hub; on a machine busy with other tests it is retried. */
const offered = (...words: string[]): { out: string; err: string } => {
  for (let attempt = 1; ; attempt++) {
    const seen = run("flotilla", "__complete", ...words);
    if (seen.out !== ":4\n" || attempt === MAX_ATTEMPTS) return seen;
  }
};

test("completes members, namespaces, types and names from a hub", () => {
  expect(offered("unjoin", "")).toEqual({ out: "member1\nmember2\n:4\n", err: "" });
  expect(offered("why", "-n", "karmada-")).toMatchObject({
    out: expect.stringContaining("karmada-es-member1\nkarmada-es-member2\n"),
    err: "",
  });
  expect(offered("why", "clonese")).toEqual({ out: "clonesets\n:4\n", err: "" });
  expect(offered("why", "-n", "kube-system", "configmap/kube-root")).toEqual({
    out: "configmap/kube-root-ca.crt\n:4\n",
    err: "",
  });
});

test("completion does not wait for a hub that is not running, and prints no error", () => {
  expect(run("flotilla", "__complete", "unjoin", "--data", join(folder.path, "nowhere"), "")).toEqual({
    out: ":4\n",
    err: "",
  });
});

test("waits only briefly for a hub that does not respond", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "a",
    clusters: [{ name: "a", cluster: { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    contexts: [{ name: "a", context: { cluster: "a" } }],
  };
  writeFileSync(join(folder.path, "silent.kubeconfig"), JSON.stringify(config));

  // The connection times out after ten seconds.
  const { stdout, signal } = spawnSync(
    join(BIN, "flotilla"),
    ["__complete", "unjoin", "--kubeconfig", join(folder.path, "silent.kubeconfig"), ""],
    { encoding: "utf8", timeout: 9_000 },
  );
  server.close();

  expect({ stdout, signal }).toEqual({ stdout: ":4\n", signal: null });
});

test("bash completes with the generated script", () => {
  const script =
    `source <(flotilla completion bash); COMP_LINE='flotilla unjoin mem'; COMP_POINT=\${#COMP_LINE}; ` +
    `COMP_WORDS=(flotilla unjoin mem); COMP_CWORD=2; _flotilla; echo "\${COMPREPLY[@]}"`;

  expect(run("bash", "--norc", "-c", script)).toEqual({ out: "member1 member2\n", err: "" });
});

test("kubectl completes 'kubectl flotilla' through the plugin", (context: TestContext) => {
  const kubectl = fromPackage();
  if (kubectl === undefined) context.skip("the packaged kubectl runs on Linux x64 only");

  expect(run(kubectl, "__complete", "flotilla", "unjoin", "mem").out).toBe("member1\nmember2\n:4\n");
  expect(run(kubectl, "flotilla", "version", "--help").out).toContain("Usage: kubectl flotilla version [flags]");
});
