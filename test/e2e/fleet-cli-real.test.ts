/**
 * The commands that read members, on a fleet of a simulated and a real member: the output matches the real API server.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { noCommands } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, running } from "../programs/flotilla-process.ts";
import type { Finished } from "../programs/flotilla-process.ts";
import { startRealClusters } from "../programs/real-cluster.ts";
import type { RealCluster } from "../programs/real-cluster.ts";
import { startRealFleet } from "./real-fleet.ts";
import type { RealFleet } from "./real-fleet.ts";
import { findPrograms } from "../programs/real-programs.ts";

const LIMIT_MS = 120_000;

const binaries =
  noCommands === undefined
    ? findPrograms("commands that look into real members", "kube-controller-manager", "kube-scheduler", "kwok")
    : undefined;

describe.runIf(binaries !== undefined)("a simulated and a real member", { timeout: LIMIT_MS }, () => {
  let fleet: RealFleet;
  let real: RealCluster;
  const run = (command: string, ...args: string[]): Promise<Finished> =>
    flotilla(command, "--kubeconfig", fleet.kubeconfig(), ...args);

  beforeAll(async () => {
    [real] = await startRealClusters(binaries ?? "", "pods", ["real1"]);
    fleet = await startRealFleet("--members", "1", "--nodes", "1", "--start-ms", "0");
    await fleet.join(real);
    await fleet.hub().create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet
      .hub()
      .create(
        PropagationPolicy,
        "hub",
        makePolicy("shop/web").selects("apps/v1", "Deployment", "web").duplicates("member1", "real1").build(),
      );
    await fleet.hub().create(Deployment, "hub", makeDeployment("shop/web").replicas(1).build());
    await eventually(
      "both run it",
      () => run("get", "pods", "-n", "shop", "--no-headers"),
      ({ stdout }) => stdout.match(/Running/g)?.length === 2,
    );
  }, LIMIT_MS);
  afterAll(async () => {
    await fleet?.stop();
    await real?.stop();
  }, LIMIT_MS);

  test("are shown in one table, by every name of a type, and watched", async () => {
    const [tables, rows] = [
      await Promise.all(["deploy", "Deployment", "deployments.v1.apps"].map((type) => run("get", type, "-n", "shop"))),
      await run("get", "all", "-n", "shop", "-o", "name"),
    ];
    const watching = running(
      "get",
      "deployments",
      "-n",
      "shop",
      "--watch",
      "--output-watch-events",
      "--kubeconfig",
      fleet.kubeconfig(),
    );
    await eventually(
      "the watch has begun",
      () => Promise.resolve(watching.stdout()),
      (text) => text.includes("real1"),
    );
    await real.client.create(Deployment, "real1", makeDeployment("shop/extra").replicas(0).build());
    await eventually(
      "a change of the real member",
      () => Promise.resolve(watching.stdout()),
      (text) => /^ADDED +real1 +extra /m.test(text),
    );
    await watching.stop("SIGINT");

    for (const table of tables)
      expect(table, table.stderr).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^CLUSTER +NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nmember1 +web +1\/1 .*\nreal1 +web +1\/1 .*\n$/,
        ) as string,
      });
    expect(rows.stdout).toMatch(
      /^member1 pod\/web-[^]*real1 pod\/web-[^]*real1 deployment\.apps\/web\n[^]*real1 replicaset\.apps\/web-/,
    );
  });

  test("are described together", async () => {
    const { code, stdout } = await run("describe", "deployment/web", "-n", "shop");

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\nMEMBER real1\n[^]*conditions   Available True \(MinimumReplicasAvailable\)[^]*real1 {2}Normal ScalingReplicaSet {2}deployment\/web\n/,
    );
  });

  test("report unsupported kubelet requests with the real member's error", async () => {
    const [logs, exec] = await Promise.all([
      run("logs", "deployment/web", "-n", "shop"),
      run("exec", "deployment/web", "-n", "shop", "-C", "real1", "--", "true"),
    ]);

    expect(logs).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("[member1/web-") as string,
      stderr: expect.stringMatching(/^real1\/web-\S+: .+\n$/) as string,
    });
    expect(exec.code).toBe(1);
    expect(exec.stderr.trim().split("\n")).toHaveLength(2);
  });

  test("are waited for by name while one is unreachable", async () => {
    real.gate.cut();
    const away = await eventually(
      "the real member is away",
      () => run("get", "deployments", "web", "-n", "shop", "--request-timeout", "3"),
      ({ code }) => code === 1,
    );
    real.gate.open();
    const back = await eventually(
      "the real member is back",
      () => run("get", "deployments", "web", "-n", "shop", "--request-timeout", "3"),
      ({ code }) => code === 0,
    );

    expect(away).toMatchObject({
      stdout: expect.stringMatching(/^CLUSTER .*\nmember1 .*\n$/) as string,
      stderr: expect.stringMatching(/^real1: .+\n$/) as string,
    });
    expect(back.stdout).toContain("\nreal1 ");
  });
});
