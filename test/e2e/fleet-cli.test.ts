/** The shipped commands that read members, on a fleet of three simulated ones. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Deployment, ServiceAccount, TokenRequest } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig, renderKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, running, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Finished, Up } from "../programs/flotilla-process.ts";

const LIMIT_MS = 120_000;
const FAULT = "simulation.flotilla.dev/fault";

const SHOP = (replicas: number): string => `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: web, namespace: shop }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  placement:
    replicaScheduling: { replicaSchedulingType: Divided, replicaDivisionPreference: Weighted }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, labels: { app: web } }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "web:1" }, { name: proxy, image: "proxy:1" }] }
`;

describe("a fleet of three members", { timeout: LIMIT_MS }, () => {
  const data = temporaryDirectory();
  const manifest = join(data.path, "shop.yaml");
  let hub: Up;
  let client: Client;
  let transport: Transport;
  const run = (command: string, ...args: string[]): Promise<Finished> =>
    flotilla(command, "--kubeconfig", hub.kubeconfig("hub"), ...args);
  const cutOff = (fault: string | null): Promise<unknown> =>
    client.patch(
      Cluster,
      { cluster: "hub", name: "member2" },
      { metadata: { annotations: { [FAULT]: fault } } },
      { type: "merge" },
    );

  beforeAll(async () => {
    hub = await up(data.path, "--members", "3", "--nodes", "1", "--start-ms", "0", "--ephemeral");
    transport = createHttp2Transport({
      ...(await connectionOf(await loadKubeconfig(hub.kubeconfig("hub")))),
      cluster: { root: "hub" },
    });
    client = createClient({ transport, fieldManager: "test" });
    writeFileSync(manifest, SHOP(3));
    const applied = await run("apply", "-f", manifest, "--yes", "--wait");
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    expect(applied.stdout).toContain("namespace/shop created");
    expect(applied.stdout).toMatch(
      /\+ Deployment shop\/web\n[^]*deployment\.apps\/web created\n[^]*Deployment shop\/web is healthy on member3\n/,
    );
  }, LIMIT_MS);
  afterAll(async () => {
    await transport?.close();
    await hub?.stop("SIGTERM");
    data.remove();
  }, LIMIT_MS);

  test("is changed by apply only after confirmation, and the plan describes the change", async () => {
    writeFileSync(join(data.path, "more.yaml"), SHOP(6));

    const [unasked, again, changed, back] = [
      await run("apply", "-f", manifest),
      await run("apply", "-f", manifest, "--yes"),
      await run("apply", "-f", join(data.path, "more.yaml"), "--yes", "--wait", "-o", "json"),
      await run("apply", "-f", manifest, "--yes", "--wait"),
    ];

    expect(unasked).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("cannot ask for confirmation without a terminal: use --yes") as string,
    });
    expect(again).toMatchObject({
      code: 0,
      stdout:
        "Nothing would change on the hub or on any member.\n" +
        "\n" +
        "namespace/shop unchanged\n" +
        "propagationpolicy.policy.karmada.io/web unchanged\n" +
        "deployment.apps/web unchanged\n",
    });
    expect(JSON.parse(changed.stdout)).toMatchObject({
      applied: [
        { outcome: "unchanged" },
        { outcome: "unchanged" },
        { resource: "deployment.apps/web", namespace: "shop", outcome: "changed" },
      ],
    });
    expect(back).toMatchObject({ code: 0 });
  });

  test("is not changed by manifests that cannot be planned or read", async () => {
    writeFileSync(
      join(data.path, "bad.yaml"),
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: bad, namespace: shop }\nspec: { replicas: -1 }\n",
    );
    mkdirSync(join(data.path, "empty"));

    const [refused, missing, empty] = [
      await run("apply", "-f", join(data.path, "bad.yaml"), "--yes"),
      await run("apply", "-f", join(data.path, "none.yaml"), "--yes"),
      await run("apply", "-f", join(data.path, "empty"), "--yes"),
    ];

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^flotilla apply: nothing was applied, because planning failed: .*spec\.replicas/,
      ) as string,
    });
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^flotilla apply: .*none\.yaml.*does not exist/) as string,
    });
    expect(empty.code).toBe(1);
  });

  test("is not waited for longer than the timeout", async () => {
    writeFileSync(
      join(data.path, "stuck.yaml"),
      SHOP(3)
        .replaceAll("name: web, namespace", "name: stuck, namespace")
        .replace("kind: Deployment }]", "kind: Deployment, name: stuck }]")
        .replace("placement:", "placement:\n    clusterAffinity: { clusterNames: [nowhere] }"),
    );

    const stuck = await run("apply", "-f", join(data.path, "stuck.yaml"), "--yes", "--wait", "--timeout", "2s");
    await client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "stuck" });

    expect(stuck).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("Problems:\n  Deployment shop/stuck: ") as string,
      stderr: expect.stringMatching(
        /^flotilla apply: after 2 s not everything is applied and healthy: Deployment shop\/stuck on hub: .*run 'flotilla why' for details\n$/,
      ) as string,
    });
  });

  test("shows objects of all members, in every output format", async () => {
    const [table, hubToo, json, one, names] = await Promise.all([
      run("get", "deploy", "-n", "shop"),
      run("get", "deployments.apps/web", "-n", "shop", "--hub", "--no-headers"),
      run("get", "deployment", "-n", "shop", "-o", "json"),
      run(
        "get",
        "deployment",
        "web",
        "-n",
        "shop",
        "-C",
        "member2",
        "-o",
        "jsonpath={.metadata.name} {.spec.replicas}",
      ),
      run("get", "pods,deploy", "-n", "shop", "-l", "app=web", "-o", "name"),
    ]);

    expect(table).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^CLUSTER +NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nmember1 +web +1\/1 .*\nmember2 +web .*\nmember3 +web .*\n$/,
      ) as string,
    });
    expect(hubToo.stdout).toMatch(/^hub +web +3\/3 .*\nmember1 /);
    expect(
      (JSON.parse(json.stdout) as { items: JsonObject[] }).items.map(({ kind, metadata }) => [
        kind,
        (metadata as { annotations: Record<string, string> }).annotations["resource.karmada.io/cached-from-cluster"],
      ]),
    ).toEqual([
      ["Deployment", "member1"],
      ["Deployment", "member2"],
      ["Deployment", "member3"],
    ]);
    expect(one.stdout).toBe("web 1");
    expect(names.stdout).toMatch(/^member1 pod\/web-\S+\n[^]*member3 deployment\.apps\/web\n$/);
  });

  test("reports errors in one line", async () => {
    const [type, member, name, format] = await Promise.all([
      run("get", "podz"),
      run("get", "pods", "--clusters", "membr1"),
      run("get", "deployment", "nope", "-n", "shop"),
      run("get", "pods", "-o", "xml"),
    ]);

    expect(type).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^flotilla get: member1, member2, member3 do not serve the resource type 'podz' \(did you mean 'pods'\?\).*\n$/,
      ) as string,
    });
    expect(member).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("member 'membr1' not found (did you mean 'member1'?)") as string,
    });
    expect(name).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "deployment nope in namespace shop not found on member1, member2, member3\n",
    });
    expect(format).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("-o must be one of table, wide, json") as string,
    });
  });

  test("describes one object across the fleet, including objects that only one member has", async () => {
    const pod = (await run("get", "pods", "-n", "shop", "-C", "member3", "-o", "jsonpath={.items[0].metadata.name}"))
      .stdout;

    const [deployment, ofMember, data3] = await Promise.all([
      run("describe", "deployment/web", "-n", "shop"),
      run("describe", "pod", pod, "-n", "shop", "--clusters", "member3"),
      run("describe", `pod/${pod}`, "-n", "shop", "-o", "json"),
    ]);

    expect(deployment.stdout).toMatch(
      /^Deployment shop\/web \(apps\/v1\)\n\nHUB\n[^]*\nBINDING web-deployment\n[^]*\nMEMBER member1\n[^]*\nEVENTS\n[^]*ScalingReplicaSet/,
    );
    expect(ofMember.stdout).toMatch(
      new RegExp(
        `^Pod shop/${pod} \\(v1\\)\\n\\nMEMBER member3\\n[^]*containers   web: web:1 \\(ready, 0 restarts\\)\\n[^]*conditions   `,
      ),
    );
    expect(JSON.parse(data3.stdout)).toMatchObject({
      members: [{ cluster: "member3" }],
      without: ["member1", "member2"],
    });
  });

  test("prints logs across members, and follows them until stopped", async () => {
    const [all, one, selected, tooMany, nowhere] = await Promise.all([
      run("logs", "deployment/web", "-n", "shop", "--all-containers", "--tail", "1"),
      run("logs", "deployment/web", "-n", "shop", "-C", "member1", "-c", "proxy"),
      run("logs", "-l", "app=web", "-n", "shop", "--prefix", "-C", "member2"),
      run("logs", "deployment/web", "-n", "shop", "-f", "--max-log-requests", "2"),
      run("logs", "nope"),
    ]);
    const following = running("logs", "deployment/web", "-n", "shop", "-f", "--kubeconfig", hub.kubeconfig("hub"));
    await eventually(
      "lines of all members",
      () => Promise.resolve(following.stdout()),
      (text) => ["member1", "member2", "member3"].every((name) => text.includes(`[${name}/web-`)),
    );
    const stopped = await following.stop("SIGINT");

    expect(all.stdout.split("\n").map((line) => line.replace(/web-\S+\//, "web/").split("] ")[0])).toEqual(
      ["member1", "member2", "member3"].flatMap((name) => [`[${name}/web/web`, `[${name}/web/proxy`]).concat(""),
    );
    expect(one.stdout).toMatch(/^container proxy of pod shop\/web-/);
    expect(selected).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\[member2\/web-/) as string,
      stderr: "showing container web of web, proxy; use -c to select another, or --all-containers\n",
    });
    expect(tooMany).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("following 3 containers exceeds the limit of 2") as string,
    });
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "there is no pod nope in namespace default on member1, member2, member3",
      ) as string,
    });
    expect(stopped.code).toBe(0);
  });

  test("runs commands, and returns their exit codes", async () => {
    const pod = (await run("get", "pods", "-n", "shop", "-C", "member3", "-o", "jsonpath={.items[0].metadata.name}"))
      .stdout;

    const [hostname, code, ambiguous, unknown, container] = await Promise.all([
      run("exec", pod, "-n", "shop", "--", "hostname"),
      run("exec", "deployment/web", "-n", "shop", "-C", "member1", "--", "sh", "-c", "echo oops; exit 7"),
      run("exec", "deployment/web", "-n", "shop", "--", "true"),
      run("exec", "nope", "-n", "shop", "--", "true"),
      run("exec", pod, "-n", "shop", "-c", "nope", "--", "true"),
    ]);

    expect(hostname).toMatchObject({ code: 0, stdout: `${pod}\n` });
    expect(code).toMatchObject({ code: 7, stdout: "oops\n" });
    expect(ambiguous).toMatchObject({
      code: 2,
      stderr: "flotilla exec: deployment/web is on member1, member2, member3; select one with --clusters\n",
    });
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no pod nope in namespace shop on member1, member2, member3") as string,
    });
    expect(container).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no container 'nope'; it has web, proxy") as string,
    });
  });

  test("shows the objects of the other members while one is unreachable, also in a running watch", async () => {
    const watching = running("get", "deployments", "-n", "shop", "--watch", "--kubeconfig", hub.kubeconfig("hub"));
    await eventually(
      "the watch has begun",
      () => Promise.resolve(watching.stdout()),
      (text) => text.includes("member3"),
    );

    await cutOff("unreachable");
    const away = await eventually(
      "member2 is away",
      () => run("get", "deployments", "-n", "shop"),
      ({ code }) => code === 1,
    );
    const [logs, exec, described] = await Promise.all([
      run("logs", "deployment/web", "-n", "shop", "--tail", "1"),
      run("exec", "deployment/web", "-n", "shop", "-C", "member2", "--", "true"),
      run("describe", "deployment/web", "-n", "shop"),
    ]);
    await client.create(Deployment, "member1", makeDeployment("shop/extra").build());
    await eventually(
      "the watch continues",
      () => Promise.resolve(watching.stdout()),
      (text) => /^member1 +extra /m.test(text),
    );
    await cutOff(null);
    const back = await eventually(
      "member2 is back",
      () => run("get", "deployments", "-n", "shop"),
      ({ code }) => code === 0,
    );
    const watched = await watching.stop("SIGINT");

    expect(away.stdout).toMatch(/^CLUSTER .*\nmember1 .*\nmember3 .*\n$/);
    expect(away.stderr).toMatch(/^member2: .+; run 'flotilla doctor --clusters member2' for details\n$/);
    expect([logs.code, exec.code, described.code]).toEqual([1, 1, 1]);
    expect(logs.stdout).toContain("[member3/web-");
    expect(described.stdout).toMatch(/NOT CHECKED\n {2}member2: /);
    expect(back.stdout).toContain("\nmember2 ");
    expect(watched.code).toBe(0);
  });

  test("reports an unreachable member in a plan before the hub taints it, and waiting for it fails", async () => {
    const more = join(data.path, "more.yaml");
    writeFileSync(more, SHOP(6));
    await cutOff("unreachable");
    const planned = await eventually(
      "member2 is away",
      () => run("plan", "-f", more),
      ({ stdout }) => stdout.includes("Unreachable; "),
    );
    const applied = await run("apply", "-f", manifest, "--yes", "--wait", "--timeout", "2s");
    await cutOff(null);
    await eventually(
      "member2 is back",
      () => run("get", "deployments", "-n", "shop"),
      ({ code }) => code === 0,
    );

    expect(planned.stdout).toMatch(/Unreachable; these changes wait until the members are back:\n {2}member2: .+/);
    expect(applied).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /not everything is applied and healthy: .*Deployment shop\/web on member2: it cannot be read: /,
      ) as string,
    });
    expect(applied.stdout).not.toContain("is healthy on member2");
  });

  test("shows a user only permitted objects, and reports what is missing", async () => {
    await client.create(ServiceAccount, "hub", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "viewer", namespace: "shop" },
    });
    const { server, ca = "" } = await connectionOf(await loadKubeconfig(hub.kubeconfig("hub")));
    const file = join(data.path, "viewer.kubeconfig");
    writeFileSync(file, renderKubeconfig({ name: "viewer", server: server.href, ca, token: await tokenOf("viewer") }));
    const asViewer = (...args: string[]): Promise<Finished> => flotilla(...args, "--kubeconfig", file);

    const blind = await asViewer("get", "pods", "-n", "shop");
    await client.create(ClusterRole, "hub", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "see-clusters" },
      rules: [{ apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: ["get", "list"] }],
    });
    await client.create(ClusterRoleBinding, "hub", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "see-clusters" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "see-clusters" },
      subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "shop" }],
    });
    const outside = await eventually(
      "the role counts",
      () => asViewer("get", "pods", "-n", "shop"),
      ({ stderr }) => stderr.includes("clusters/proxy"),
    );

    expect(blind).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "you are not allowed to list the members of the hub; name the members that you may access with --clusters",
      ) as string,
    });
    expect(outside).toMatchObject({ code: 1, stdout: "" });
    expect(outside.stderr.split("\n").map((line) => line.split(":")[0])).toEqual(["member1", "member2", "member3", ""]);
  });

  const tokenOf = async (name: string): Promise<string> => {
    const { body } = await client.raw({
      method: "POST",
      cluster: "hub",
      path: `/api/v1/namespaces/shop/serviceaccounts/${name}/token`,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ apiVersion: `${TokenRequest.group}/v1`, kind: "TokenRequest", spec: {} })),
    });
    let text = "";
    for await (const chunk of body) text += Buffer.from(chunk).toString();
    return (JSON.parse(text) as { status: { token: string } }).status.token;
  };
});

test(
  "without a running hub, each command reports it in one line",
  async () => {
    const data = temporaryDirectory();
    const file = join(data.path, "hub.kubeconfig");
    writeFileSync(
      file,
      "apiVersion: v1\n" +
        "kind: Config\n" +
        "current-context: h\n" +
        "contexts: [{ name: h, context: { cluster: h, user: h } }]\n" +
        "clusters: [{ name: h, cluster: { server: 'https://127.0.0.1:9' } }]\n" +
        "users: [{ name: h, user: { token: t } }]\n",
    );

    const ended = await Promise.all(
      [
        ["get", "pods"],
        ["describe", "pod/a"],
        ["logs", "a"],
        ["exec", "a", "--", "true"],
      ].map(([command = "", ...args]) => flotilla(command, "--kubeconfig", file, ...args)),
    );
    data.remove();

    for (const { code, stdout, stderr } of ended)
      expect([code, stdout, stderr.trim().split("\n").length, stderr]).toEqual([
        1,
        "",
        1,
        expect.stringContaining("127.0.0.1:9"),
      ]);
  },
  LIMIT_MS,
);
