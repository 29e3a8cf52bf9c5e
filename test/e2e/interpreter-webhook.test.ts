/**
 * The example webhook as its README describes it: a kind that only the webhook interprets is divided, applied, retained
 * and aggregated.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { sleep, systemClock } from "@flotilla/base";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

if (noCommands !== undefined) process.stdout.write(`skipped: the example webhook with kubectl: ${noCommands}\n`);
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) process.stdout.write("skipped: the example's certificate script: there is no openssl here\n");

const EXAMPLE = fileURLToPath(new URL("../../examples/interpreter-webhook/", import.meta.url));
const exampleFile = (name: string): string => readFileSync(join(EXAMPLE, name), "utf8");

interface Webhook {
  url: string;
  port: string;
  /** The operations that were requested. */
  asked(): Set<string>;
  stop(): Promise<void>;
}

/** Starts the example's server; resolves when it listens. */
async function startWebhook(pki: string, port = "0"): Promise<Webhook> {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(EXAMPLE, "server.ts"), "--port", port, "--pki", pki],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const line = /^listening {2}(\S+)$/m.exec(output);
      if (line?.[1]) resolve(line[1]);
    });
    void exited.then(() => reject(new Error("the webhook ended before it listened")));
  });
  return {
    url,
    port: new URL(url).port,
    asked: () => new Set(output.split("\n").flatMap((line) => /^(\w+) {2}shop\/web$/.exec(line)?.[1] ?? [])),
    async stop() {
      child.kill();
      await exited;
    },
  };
}

describe.runIf(noCommands === undefined)("the example webhook", { timeout: 60_000 }, () => {
  const directory = temporaryDirectory();
  const MEMBERS = ["member1", "member2", "member3"];
  const clusters = new Map<string, CommandLine>();
  let fleet: Up;
  let webhook: Webhook;

  const on = async (cluster: string, args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = (await clusters.get(cluster)?.run(args, input)) ?? {
      code: 1,
      stdout: "",
      stderr: `no cluster ${cluster}`,
    };
    expect(code, `kubectl ${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };
  /** The output of kubectl once it is the expected one, or after half a minute. */
  const eventually = async (want: string, cluster: string, args: readonly string[]): Promise<string> => {
    let seen = "";
    for (let attempt = 0; attempt < 150 && seen !== want; attempt++) {
      seen = (await clusters.get(cluster)?.run(args))?.stdout.trim() ?? "";
      if (seen !== want) await sleep(systemClock, 200);
    }
    return seen;
  };
  /** Plays the controller that would run it there. */
  const say = (cluster: string, readyReplicas: number): Promise<string> =>
    on(cluster, [
      "patch",
      "workload",
      "web",
      "-n",
      "shop",
      "--subresource",
      "status",
      "--type",
      "merge",
      "-p",
      JSON.stringify({ status: { readyReplicas } }),
    ]);
  const workload = (path: string): string[] => ["get", "workload", "web", "-n", "shop", "-o", `jsonpath=${path}`];
  const binding = (path: string): string[] => [
    "get",
    "resourcebinding",
    "web-workload",
    "-n",
    "shop",
    "-o",
    `jsonpath=${path}`,
  ];
  const HEALTH = "{range .status.aggregatedStatus[*]}{.clusterName}={.health} {end}";
  const HEALTH_OF_MEMBER3 = '{.status.aggregatedStatus[?(@.clusterName=="member3")].health}';

  beforeAll(async () => {
    const authority = await createCertificateAuthority({ clock: systemClock });
    const serving = await authority.issueServing([]);
    writeFileSync(join(directory.path, "tls.crt"), serving.certificate);
    writeFileSync(join(directory.path, "tls.key"), serving.key);
    [fleet, webhook] = await Promise.all([
      up(join(directory.path, "data"), "--members", "3", "--nodes", "0", "--kruise", "none"),
      startWebhook(directory.path),
    ]);
    for (const name of ["hub", ...MEMBERS]) clusters.set(name, createCommand("kubectl", fleet.kubeconfig(name)));

    for (const name of clusters.keys()) await on(name, ["apply", "-f", "-"], exampleFile("crd.yaml"));
    for (const name of clusters.keys())
      await on(name, ["wait", "--for=condition=Established", "crd/workloads.workload.example.io", "--timeout=20s"]);
    const configuration = exampleFile("configuration.yaml")
      .replace("CA_BUNDLE", Buffer.from(authority.certificate).toString("base64"))
      .replace(/url: .*/, `url: ${webhook.url}`);
    await on("hub", ["apply", "-f", "-"], configuration);
    await on("hub", ["apply", "-f", "-"], exampleFile("workload.yaml"));
  }, 60_000);
  afterAll(async () => {
    await webhook.stop();
    const { code } = await fleet.stop("SIGTERM");
    for (const command of clusters.values()) command.remove();
    directory.remove();
    expect(code).toBe(0);
  });

  test("divides its Workload over the members", async () => {
    const member1 = await eventually("4", "member1", workload("{.spec.replicas}"));
    const member2 = await eventually("2", "member2", workload("{.spec.replicas}"));
    const member3 = await eventually("2", "member3", workload("{.spec.replicas}"));

    expect([member1, member2, member3]).toEqual(["4", "2", "2"]);
    expect(webhook.asked()).toContain("InterpretReplica");
    expect(webhook.asked()).toContain("ReviseReplica");
  });

  test("reports its Workload's status on each member, and aggregates it on the hub", async () => {
    const health = "member1=Healthy member2=Healthy member3=Unhealthy";

    await Promise.all([say("member1", 4), say("member2", 2), say("member3", 1)]);

    expect(await eventually("7", "hub", workload("{.status.readyReplicas}"))).toBe("7");
    expect(await eventually(health, "hub", binding(HEALTH))).toBe(health);
  });

  test("retains a member's field when the template changes", async () => {
    await on("member2", [
      "patch",
      "workload",
      "web",
      "-n",
      "shop",
      "--type",
      "merge",
      "-p",
      '{"spec":{"paused":true}}',
    ]);

    await on("hub", ["patch", "workload", "web", "-n", "shop", "--type", "merge", "-p", '{"spec":{"replicas":12}}']);

    expect(await eventually("3 true", "member2", workload("{.spec.replicas} {.spec.paused}"))).toBe("3 true");
    expect(await eventually("6", "member1", workload("{.spec.replicas} {.spec.paused}"))).toBe("6");
  });

  test("changes nothing while it is down, and propagation continues when it is back", async () => {
    await webhook.stop();
    await on("hub", ["patch", "workload", "web", "-n", "shop", "--type", "merge", "-p", '{"spec":{"replicas":16}}']);
    await say("member3", 3);
    const reported = await eventually("GetReplicasFailed", "hub", [
      "get",
      "events",
      "-n",
      "shop",
      "--field-selector",
      "reason=GetReplicasFailed",
      "-o",
      "jsonpath={.items[0].reason}",
    ]);
    const health = await eventually("Unknown", "hub", binding(HEALTH_OF_MEMBER3));
    const meanwhile = await on("member1", workload("{.spec.replicas}"));

    webhook = await startWebhook(directory.path, webhook.port);

    expect(reported).toBe("GetReplicasFailed");
    expect(health).toBe("Unknown");
    expect(meanwhile).toBe("6");
    expect(await eventually("8", "member1", workload("{.spec.replicas}"))).toBe("8");
    expect(await eventually("Unhealthy", "hub", binding(HEALTH_OF_MEMBER3))).toBe("Unhealthy");
  });
});

describe.runIf(hasOpenssl)("the example's certificate script", () => {
  test("creates a certificate for the given names and addresses", () => {
    const directory = temporaryDirectory();

    const { status, stdout } = spawnSync(
      join(EXAMPLE, "certificate.sh"),
      [directory.path, "hooks.example.com", "192.0.2.7", "::1"],
      { encoding: "utf8" },
    );
    const verified = spawnSync(
      "openssl",
      [
        "verify",
        "-CAfile",
        join(directory.path, "ca.crt"),
        "-verify_hostname",
        "hooks.example.com",
        join(directory.path, "tls.crt"),
      ],
      { encoding: "utf8" },
    );
    directory.remove();

    expect(status).toBe(0);
    expect(stdout).toContain("DNS:hooks.example.com,IP:192.0.2.7,IP:::1");
    expect(verified.stdout).toMatch(/: OK\n$/);
  });
});
