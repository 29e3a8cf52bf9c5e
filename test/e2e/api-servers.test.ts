/** Processes of `flotilla apiserver` on one etcd: shared keys, their replacement, and clients that move. Runs if `$REAL_BIN` has etcd. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startEtcd } from "../programs/etcd-server.ts";
import type { EtcdServer } from "../programs/etcd-server.ts";
import { eventually } from "../programs/eventually.ts";
import { apiserver, flotilla, temporaryDirectory } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { createRoundRobin } from "../programs/round-robin.ts";
import type { RoundRobin } from "../programs/round-robin.ts";

const binaries = findPrograms("API servers on one etcd", "etcd");

describe.runIf(binaries !== undefined)("API servers on one etcd", { timeout: 300_000 }, () => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let etcd: EtcdServer;
  let balancer: RoundRobin;
  const servers = new Map<string, Up>();
  beforeEach(async () => {
    folder = temporaryDirectory();
    [etcd, balancer] = await Promise.all([startEtcd(binaries ?? ""), createRoundRobin()]);
  });
  afterEach(async () => {
    await Promise.all(Array.from(servers.values(), (server) => server.stop("SIGKILL")));
    servers.clear();
    await balancer.close();
    await etcd.stop();
    folder.remove();
  });

  const at = (name: string): string => join(folder.path, name);
  const start = async (name: string, ...flags: string[]): Promise<Up> => {
    const server = await apiserver(at(name), "--store", `etcd://${etcd.endpoint.host}`, ...flags);
    servers.set(name, server);
    balance();
    return server;
  };
  const balance = (): void => balancer.use(Array.from(servers.values(), ({ url }) => Number(new URL(url).port)));
  const stop = async (name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    const server = servers.get(name);
    servers.delete(name);
    await server?.stop(signal);
    balance();
  };
  const copyKeys = (from: string, to: string): void => {
    rmSync(join(at(to), "pki"), { recursive: true, force: true });
    cpSync(join(at(from), "pki"), join(at(to), "pki"), { recursive: true });
  };
  const kubectl = async (kubeconfig: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await flotilla("kubectl", "--kubeconfig", kubeconfig, ...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  /** The kubeconfig of one server, with the address of another. */
  const redirected = (kubeconfig: string, port: number, name: string): string => {
    const text = readFileSync(kubeconfig, "utf8").replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`);
    writeFileSync(at(name), text, { mode: 0o600 });
    return at(name);
  };
  const portOf = ({ url }: Up): number => Number(new URL(url).port);

  test("a server without the keys of the hub refuses to start, and with a copy it accepts what others issued", async () => {
    const first = await start("first");
    const without = await flotilla(
      "apiserver",
      "--data",
      at("second"),
      "--port",
      "0",
      "--store",
      `etcd://${etcd.endpoint.host}`,
    );
    const created = await flotilla("keys", "create", "--keys", at("other-keys"));
    const other = await flotilla(
      "apiserver",
      "--data",
      at("second"),
      "--port",
      "0",
      "--keys",
      at("other-keys"),
      "--store",
      `etcd://${etcd.endpoint.host}`,
    );
    expect([without.code, created.code, other.code]).toEqual([1, 0, 1]);
    expect(without.stderr).toContain("copy the folder pki of another API server of this hub");
    expect(other.stderr).toContain("are not those of the hub in this store");

    // The keys alone, in a folder that is only read, are sufficient.
    const second = await start("second", "--keys", join(at("first"), "pki"));
    await kubectl(first.kubeconfig("hub"), "create", "serviceaccount", "robot");
    const token = await kubectl(second.kubeconfig("hub"), "create", "token", "robot");
    const toSecond = redirected(first.kubeconfig("hub"), portOf(second), "to-second");
    const who = await kubectl(first.kubeconfig("hub"), "auth", "whoami", "--token", token.trim());
    writeFileSync(
      at("paris.json"),
      '{"apiVersion":"flotilla.dev/v1alpha1","kind":"LogicalCluster","metadata":{"name":"paris"},"spec":{"profile":"empty"}}',
    );
    await kubectl(first.kubeconfig("hub"), "create", "-f", at("paris.json"));
    const issued = await eventually(
      "the second server issues a kubeconfig of the cluster",
      () =>
        flotilla(
          "kubectl",
          "--kubeconfig",
          toSecond,
          "create",
          "--raw",
          "/apis/flotilla.dev/v1alpha1/logicalclusters/paris/kubeconfig",
          "-f",
          "/dev/null",
        ),
      ({ code }) => code === 0,
    );
    writeFileSync(at("paris"), issued.stdout, { mode: 0o600 });
    const atFirst = redirected(at("paris"), portOf(first), "paris-at-first");

    expect(who).toContain("system:serviceaccount:default:robot");
    expect(await kubectl(toSecond, "get", "serviceaccount", "robot", "-o", "name")).toContain("robot");
    expect(await kubectl(atFirst, "get", "namespace", "default", "-o", "name")).toContain("default");
  });

  test("all keys are replaced without a failed request, and the old credentials are rejected at the end", async () => {
    const first = await start("first", "--shutdown-delay", "1");
    copyKeys("first", "second");
    await start("second", "--shutdown-delay", "1");
    let kubeconfig = redirected(first.kubeconfig("hub"), balancer.port, "balanced");
    const before = redirected(first.kubeconfig("hub"), balancer.port, "before");
    let failures: string[] = [];
    const done = new AbortController();
    const client = (async () => {
      while (!done.signal.aborted) {
        const { code, stderr } = await flotilla("kubectl", "--kubeconfig", kubeconfig, "get", "namespace", "default");
        if (code !== 0) failures = [...failures, stderr];
      }
    })();

    for (const step of ["prepare", "activate", "retire"]) {
      expect((await flotilla("keys", step, "--data", at("first"))).code).toBe(0);
      copyKeys("first", "second");
      for (const name of ["first", "second"]) {
        await stop(name, "SIGTERM");
        const restarted = await start(name, "--shutdown-delay", "1");
        await eventually(
          "the balancer uses both",
          async () => servers.size,
          (size) => size === 2,
        );
        if (name === "first") kubeconfig = redirected(restarted.kubeconfig("hub"), balancer.port, `balanced-${step}`);
      }
    }
    done.abort();
    await client;
    const rejected = await flotilla("kubectl", "--kubeconfig", before, "get", "namespace", "default");

    expect(failures).toEqual([]);
    expect(rejected.code).not.toBe(0);
  });

  test("a client behind a load balancer continues after a server was killed", async () => {
    const first = await start("first");
    copyKeys("first", "second");
    await start("second");
    const kubeconfig = redirected(first.kubeconfig("hub"), balancer.port, "balanced");
    await eventually(
      "both answer",
      () => flotilla("kubectl", "--kubeconfig", kubeconfig, "get", "ns"),
      ({ code }) => code === 0,
    );

    await stop("first", "SIGKILL");
    await eventually(
      "the other server answers",
      () => flotilla("kubectl", "--kubeconfig", kubeconfig, "create", "configmap", "after"),
      ({ code }) => code === 0,
    );

    const ready = await flotilla("kubectl", "--kubeconfig", kubeconfig, "get", "--raw", "/readyz");
    await etcd.kill();
    const without = await eventually(
      "the server is not ready without etcd",
      () =>
        flotilla(
          "kubectl",
          "--kubeconfig",
          redirected(kubeconfig, portOf(servers.get("second") as Up), "direct"),
          "get",
          "--raw",
          "/readyz",
        ),
      ({ code }) => code !== 0,
    );
    const alive = await flotilla("kubectl", "--kubeconfig", at("direct"), "get", "--raw", "/livez");
    await etcd.start();
    expect(ready.stdout).toBe("ok");
    expect(without.stderr).toContain("store-writes failed");
    expect(alive.code).toBe(0);
  });
});
