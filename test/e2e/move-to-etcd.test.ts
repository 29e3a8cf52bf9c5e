/** A hub moves from its data directory to etcd and back: `flotilla snapshot` with `--store`. Runs if `$REAL_BIN` has etcd. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startEtcd } from "../programs/etcd-server.ts";
import type { EtcdServer } from "../programs/etcd-server.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { findPrograms } from "../programs/real-programs.ts";

const binaries = findPrograms("a hub that moves to etcd", "etcd");

describe.runIf(binaries !== undefined)("a hub moves", () => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let etcd: EtcdServer;
  let running: Up | undefined;
  beforeEach(async () => {
    folder = temporaryDirectory();
    etcd = await startEtcd(binaries ?? "");
  });
  afterEach(async () => {
    await running?.stop("SIGKILL");
    running = undefined;
    await etcd.stop();
    folder.remove();
  });

  const at = (name: string): string => join(folder.path, name);
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", at("first/hub.kubeconfig"), ...args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const stop = async (): Promise<void> => {
    await running?.stop("SIGTERM");
    running = undefined;
  };
  /** Uids of bootstrap objects and of pods, and whether the pods started again. */
  const identities = async (): Promise<string> =>
    (await kubectl("get", "namespaces", "kube-system", "-o", "jsonpath={.metadata.uid}")) +
    (await flotilla("get", "pods", "-n", "shop", "--data", at("first"), "-o", "json")).stdout.replaceAll(
      /"resourceVersion": *"\d+"/g,
      "",
    );

  test(
    "a hub moves to etcd and back, without a change of a pod, and its kubeconfigs stay valid",
    { timeout: 240_000 },
    async () => {
      const address = `etcd://${etcd.endpoint.host}`;
      running = await up(at("first"), "--members", "2");
      const port = new URL(running.url).port;
      await kubectl("apply", "-f", "examples/shop/shop.yaml");
      await flotilla("wait", "cloneset/web", "deployment/cart", "-n", "shop", "--data", at("first"));
      const before = await identities();
      await stop();

      const saved = await flotilla("snapshot", "save", at("snapshot"), "--data", at("first"));
      const moved = await flotilla("snapshot", "restore", at("snapshot"), "--data", at("second"), "--store", address);
      const again = await flotilla("snapshot", "restore", at("snapshot"), "--data", at("third"), "--store", address);
      expect([saved.code, moved.code, again.code]).toEqual([0, 0, 1]);
      expect(again.stderr).toContain("restore below another prefix");

      running = await up(at("second"), "--members", "2", "--port", port, "--store", address);
      expect(await identities()).toBe(before);
      await kubectl("scale", "cloneset/web", "-n", "shop", "--replicas", "12");
      await eventually(
        "the workload is scaled",
        () => kubectl("get", "cloneset/web", "-n", "shop", "-o", "jsonpath={.status.readyReplicas}"),
        (ready) => ready === "12",
      );
      const scaled = await identities();
      await stop();

      await flotilla("snapshot", "save", at("back"), "--data", at("second"), "--store", address);
      await flotilla("snapshot", "restore", at("back"), "--data", at("fourth"));
      running = await up(at("fourth"), "--members", "2", "--port", port);
      expect(await identities()).toBe(scaled);
    },
  );
});
