/**
 * The program and an earlier one: each reads what the other has written, in a data directory, and on one etcd at the same
 * time. Nothing was released yet, so the earlier one is a fixed commit.
 */
import { spawn } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../programs/eventually.ts";
import { startEtcd } from "../programs/etcd-server.ts";
import type { EtcdServer } from "../programs/etcd-server.ts";
import { apiserver, flotilla, temporaryDirectory } from "../programs/flotilla-process.ts";
import { freePort } from "../programs/kube.ts";
import { earlierProgram } from "../programs/program-copy.ts";
import { findPrograms } from "../programs/real-programs.ts";

/** Before API servers guarded their writes by the succession of the hub, and before standbys. */
const EARLIER = "edc1c7f0";
const binaries = findPrograms("API servers of two versions on one etcd", "etcd");

const folder = temporaryDirectory();
const earlier = earlierProgram(join(folder.path, "earlier"), EARLIER, "an earlier version");
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});
afterAll(() => folder.remove());
const at = (name: string): string => join(folder.path, name);

async function startNow(data: string, ...flags: string[]): Promise<() => Promise<unknown>> {
  const server = await apiserver(at(data), ...flags);
  const stop = (): Promise<unknown> => server.stop("SIGTERM");
  stops.push(stop);
  return stop;
}

async function startEarlier(data: string, ...flags: string[]): Promise<() => Promise<unknown>> {
  const port = String(await freePort());
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", earlier ?? "", "apiserver", "--data", at(data), "--port", port, ...flags],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = (): Promise<unknown> => {
    child.kill("SIGTERM");
    return ended;
  };
  stops.push(stop);
  await eventually(
    "the earlier version is ready",
    async () => (child.exitCode === null ? printed : Promise.reject(new Error(printed))),
    (text) => /^ready/m.test(text),
  );
  return stop;
}

async function kubectl(data: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", join(at(data), "hub.kubeconfig"), ...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const uidOf = (data: string, name: string): Promise<string> =>
  kubectl(data, "get", "configmap", name, "-o", "jsonpath={.metadata.uid}");
const create = (data: string, name: string): Promise<string> =>
  kubectl(data, "create", "configmap", name, "--from-literal", `by=${name}`);

describe.runIf(earlier !== undefined)("an earlier version", { timeout: 240_000 }, () => {
  test("its data directory is read by this version, and back", async () => {
    const stopFirst = await startEarlier("shared");
    await create("shared", "first");
    writeFileSync(
      at("paris.json"),
      '{"apiVersion":"flotilla.dev/v1alpha1","kind":"LogicalCluster","metadata":{"name":"paris"},"spec":{"profile":"empty"}}',
    );
    await kubectl("shared", "create", "-f", at("paris.json"));
    const first = await uidOf("shared", "first");
    await stopFirst();

    const stopNow = await startNow("shared");
    const firstNow = await uidOf("shared", "first");
    await create("shared", "second");
    const second = await uidOf("shared", "second");
    const paris = await kubectl("shared", "get", "logicalclusters", "-o", "name");
    await stopNow();

    await startEarlier("shared");
    expect(firstNow).toBe(first);
    expect(paris).toContain("paris");
    expect([await uidOf("shared", "first"), await uidOf("shared", "second")]).toEqual([first, second]);
  });

  describe.runIf(binaries !== undefined)("on one etcd with this version", () => {
    let etcd: EtcdServer;
    beforeAll(async () => void (etcd = await startEtcd(binaries ?? "")));
    afterAll(() => etcd.stop());

    test("each serves at once what the other acknowledged", async () => {
      const store = ["--store", `etcd://${etcd.endpoint.host}`];
      await startEarlier("old", ...store);
      cpSync(join(at("old"), "pki"), join(at("new"), "pki"), { recursive: true });
      await startNow("new", ...store);

      for (let round = 0; round < 3; round++) {
        await create("old", `old-${round}`);
        await create("new", `new-${round}`);
        expect(await uidOf("new", `old-${round}`)).toBe(await uidOf("old", `old-${round}`));
        expect(await uidOf("old", `new-${round}`)).toBe(await uidOf("new", `new-${round}`));
      }
      await kubectl("new", "patch", "configmap", "old-0", "--type=merge", "-p", '{"data":{"by":"new"}}');
      await kubectl("old", "delete", "configmap", "new-1");

      expect(await kubectl("old", "get", "configmap", "old-0", "-o", "jsonpath={.data.by}")).toBe("new");
      expect(await kubectl("new", "get", "configmaps", "-o", "name")).not.toContain("new-1");
      // A client has credentials of one, and uses them at the other.
      const text = readFileSync(join(at("old"), "hub.kubeconfig"), "utf8");
      const address = /https:\/\/127\.0\.0\.1:\d+/.exec(readFileSync(join(at("new"), "hub.kubeconfig"), "utf8"));
      writeFileSync(at("moved"), text.replace(/https:\/\/127\.0\.0\.1:\d+/, address?.[0] ?? ""), { mode: 0o600 });
      const moved = await flotilla("kubectl", "--kubeconfig", at("moved"), "get", "configmap", "new-0", "-o", "name");
      expect(moved.stdout).toBe("configmap/new-0\n");
    });
  });
});
