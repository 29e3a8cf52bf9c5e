/** The shipped commands that change members and workloads, on a fleet of three simulated members. */
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { flotilla, flotillaWith, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Finished, Up } from "../programs/flotilla-process.ts";

const LIMIT_MS = 120_000;
const MANIFEST = `
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web, namespace: default }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: web }]
  placement: { replicaScheduling: { replicaSchedulingType: Divided, replicaDivisionPreference: Weighted } }
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: pinned, namespace: default }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: pinned }]
  placement: { clusterAffinity: { clusterNames: [member2] } }
${["web", "pinned"]
  .map(
    (name) => `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: default }
spec:
  replicas: 6
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: web, image: "web:1" }] }
`,
  )
  .join("")}`;

describe("a fleet of three members", { timeout: LIMIT_MS }, () => {
  const data = temporaryDirectory();
  let hub: Up;
  const run = (command: string, ...args: string[]): Promise<Finished> =>
    flotilla(command, "--kubeconfig", hub.kubeconfig("hub"), ...args);

  beforeAll(async () => {
    hub = await up(data.path, "--members", "3", "--nodes", "1", "--start-ms", "0", "--ephemeral");
    const manifest = join(data.path, "web.yaml");
    writeFileSync(manifest, MANIFEST);
    const applied = await run("apply", "-f", manifest, "--yes");
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
  }, LIMIT_MS);
  afterAll(async () => {
    await hub?.stop("SIGTERM");
    data.remove();
  }, LIMIT_MS);

  test("wait returns when every member is healthy, and top shows the pods there", async () => {
    const waited = await run("wait", "deployment", "web", "pinned");
    expect(waited, waited.stderr).toMatchObject({ code: 0 });
    expect(waited.stdout).toContain("Deployment default/web is healthy on member3");

    const top = await run("top", "pods");
    expect(top.stdout.match(/^member2 +pinned-\S+ +\d+m +\d+Mi$/gm), top.stdout).toHaveLength(6);
  });

  test("a drain moves workloads that no failover policy covers, and names those that cannot leave", async () => {
    const drained = await run("drain", "member2");

    expect(drained.code).toBe(1);
    expect(drained.stdout).toContain("Deployment default/web has left");
    expect(drained.stderr).toContain(
      "1 workload cannot leave member2: Deployment default/pinned: no other cluster fits",
    );
    const status = JSON.parse((await run("status", "-o", "json")).stdout) as { workloads: { name: string }[] };
    expect(status.workloads.find(({ name }) => name === "web")).toMatchObject({
      placement: "member1=3 member3=3",
    });
  });

  test("after a deletion of what cannot leave the member is drained, and uncordon ends the drain", async () => {
    const deleted = await run("delete", "deploy/pinned", "--yes", "--wait");
    expect(deleted, deleted.stderr).toMatchObject({ code: 0 });
    expect(deleted.stdout).toContain("- Deployment default/pinned: on the hub and on member2 (6 replicas)");

    expect(await run("drain", "member2")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("member2 is drained") as string,
    });
    expect(await run("uncordon", "member2")).toMatchObject({ stdout: "member2 uncordoned\n" });
    expect(await run("cordon", "member2", "member9")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("member member9 not found; run 'flotilla status' to list the members") as string,
    });
  });

  test("several kubeconfigs, contexts and other users", async () => {
    const several = [join(data.path, "none"), hub.kubeconfig("member1"), hub.kubeconfig("hub")].join(delimiter);
    const inContext = await flotillaWith({ KUBECONFIG: several }, "status", "--context", "hub", "-v", "6");
    expect(inContext, inContext.stderr).toMatchObject({ code: 0 });
    expect(inContext.stdout).toContain("member3");
    expect(inContext.stderr).toMatch(/^GET https:\/\/\S+\/clusters\?limit=\d+ 200 in \d+ ms$/m);

    const jane = await run("get", "pods", "--as", "jane");
    expect(jane.code).toBe(1);
    expect(jane.stderr).toContain('"jane"');
  });

  test("kubectl runs against the hub", async () => {
    const environment = { KUBECONFIG: hub.kubeconfig("hub") };

    expect(await flotillaWith(environment, "kubectl", "get", "clusters", "-o", "name")).toMatchObject({
      code: 0,
      stdout:
        "cluster.cluster.karmada.io/member1\ncluster.cluster.karmada.io/member2\ncluster.cluster.karmada.io/member3\n",
    });
    expect(await flotillaWith(environment, "kubectl", "get", "nosuch")).toMatchObject({ code: 1 });
  });
});
