/** `flotilla why`, `plan` and `edit` against a running hub: their output and exit codes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import { ClusterRole, CustomResourceDefinition, Deployment, Event, Namespace, StatefulSet } from "@flotilla/kubernetes";
import { AdvancedStatefulSet } from "@flotilla/openkruise";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
const lampDefinition: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "lamps.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "lamps", singular: "lamp", kind: "Lamp" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
let fleet: TestFleet;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "explain-"));
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("default/all").selects("apps/v1", "Deployment", "web").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(4).build());
  await fleet.client.create(Deployment, "hub", makeDeployment("default/lone").build());
  await fleet.run(SETTLED_MS);
});
afterEach(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true });
});

const run = (name: string, ...argv: string[]): ReturnType<typeof runCommand> => runCommand(fleet, name, ...argv);
function write(object: unknown): string {
  const file = join(folder, "input.json");
  writeFileSync(file, JSON.stringify(object));
  return file;
}

test("a resource is named as in kubectl", async () => {
  const [{ text }, ...others] = [
    await run("why", "deployment/web"),
    await run("why", "deploy", "web"),
    await run("why", "deployments.apps/web", "-n", "default"),
  ] as const;

  expect(text).toContain("PropagationPolicy default/all (priority 0, selects it by name)");
  expect(text).toContain("member1: 2 replicas, applied");
  expect(others.map((other) => other.text)).toEqual([text, text]);
});

test("every command uses the namespace of the kubeconfig's context, and -n overrides it", async () => {
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/cart").build());
  await fleet.run(SETTLED_MS);
  const inShop = (name: string, ...argv: string[]): ReturnType<typeof runCommand> =>
    runCommand({ client: fleet.client, clock: fleet.clock, namespace: "shop" }, name, ...argv);
  const { metadata, ...rest } = makeDeployment("default/nons").build();
  const file = write({ ...rest, metadata: { ...metadata, namespace: undefined } });

  expect((await inShop("plan", "-f", file)).text).toContain("+ Deployment shop/nons");
  expect((await inShop("plan", "-f", file, "-n", "default")).text).toContain("+ Deployment default/nons");
  expect((await inShop("why", "deployment/cart")).text).toContain("Deployment shop/cart");
  expect((await inShop("why", "deployment/web", "-n", "default")).text).toContain("Deployment default/web");
  await expect(inShop("adopt", "deployment/lone", "--from", "member1")).rejects.toThrow("shop/lone");
  expect((await inShop("lint", "-f", file, "--against-hub", "-o", "json")).code).toBe(0);
});

test("a resource that no policy selects is explained too", async () => {
  const { text } = await run("why", "deployment/lone");

  expect(text).toContain("no policy selects it, so it is not propagated");
  expect(text).toContain("not PropagationPolicy default/all (priority 0): it selects other objects of this kind");
});

test("status names workloads that no policy selects, and finds no problem in them", async () => {
  const { text } = await run("status");

  expect(text).toContain(
    "No policy selects 1 workload of the hub, so it is propagated to no member: Deployment default/lone. " +
      "'flotilla why TYPE/NAME -n NAMESPACE' explains one; to list it:\n  kubectl get deployments.apps -A -l",
  );
  expect((JSON.parse((await run("status", "-o", "json")).text) as { unselected: unknown }).unselected).toEqual({
    count: 1,
    names: ["Deployment default/lone"],
    types: ["deployments.apps"],
  });
});

test("a cluster-scoped resource is explained too", async () => {
  const selects = makePolicy("x/roles")
    .selects("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")
    .duplicates("member2")
    .build();
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    ...selects,
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
  });
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);

  const { text } = await run("why", "clusterrole/reader");

  expect(text).toContain("ClusterPropagationPolicy roles");
  expect(text).toMatch(/member2: applied/);
});

test("a missing object and an unknown type are reported", async () => {
  await expect(run("why", "deployment/gone")).rejects.toThrow(
    "Deployment gone in namespace default not found on the hub",
  );
  await expect(run("why", "spaceship/gone")).rejects.toThrow("the hub does not serve the resource type 'spaceship'");
  await expect(run("why", "deployment")).rejects.toThrow("specify one resource");
  await expect(run("plan")).rejects.toThrow("specify what would change");
});

test("a name that several groups serve means the object that exists", async () => {
  const statefulSet = (apiVersion: string): StatefulSet => ({
    apiVersion,
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default" },
    spec: {
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "main", image: "db:1" }] } },
    },
  });
  await expect(run("why", "statefulset/db")).rejects.toThrow(
    "StatefulSet db in namespace default not found on the hub, and no ManifestWork applies one to members (looked for it in apps, apps.kruise.io)",
  );

  const kruise = statefulSet("apps.kruise.io/v1beta1");
  await fleet.client.create(AdvancedStatefulSet, "hub", kruise as unknown as AdvancedStatefulSet);
  const { text } = await run("why", "statefulset/db");

  expect(text).toContain("using statefulset.apps.kruise.io/db: apps has no StatefulSet of that name");
  expect(text).toContain("StatefulSet default/db (apps.kruise.io/v1beta1)");
  expect((await run("get", "sts/db", "--hub")).text).toContain("db");

  await fleet.client.create(StatefulSet, "hub", statefulSet("apps/v1"));
  for (const command of ["why", "wait", "describe", "get"])
    await expect(run(command, "statefulset/db", ...(command === "get" ? ["--hub"] : []))).rejects.toThrow(
      "apps and apps.kruise.io each have a StatefulSet db; specify statefulset.apps/db or statefulset.apps.kruise.io/db",
    );
});

test("every command that does not find an object names the nearest one", async () => {
  for (const [name, ...args] of [
    ["why", "deployment/wbe"],
    ["wait", "deployment/wbe"],
    ["delete", "deployment/wbe", "--yes"],
    ["edit", "deployment/wbe", "--yes"],
    ["rollout", "status", "deployment/wbe"],
  ] as const)
    await expect(run(name, ...args), name).rejects.toThrow("(did you mean 'web'?)");
  await expect(run("wait", "deployment/web", "-n", "elsewhere")).rejects.toThrow(
    "; namespace default has another object of that name: run 'flotilla wait deployment/web -n default'",
  );
  await expect(run("status", "-n", "defualt")).rejects.toThrow("(did you mean 'default'?)");
  await expect(run("plan", "--without-cluster", "membr1")).rejects.toThrow("(did you mean 'member1'?)");
});

test("a plan exits with 1 if a member would change, and with 0 otherwise", async () => {
  const changed = await run("plan", "-f", write(makeDeployment("default/web").replicas(6).build()));
  const same = await run("plan", "-f", write(makeDeployment("default/web").replicas(4).build()));

  expect([changed.code, same.code]).toEqual([1, 0]);
  expect(changed.text).toContain("spec.replicas: 2 → 3");
  expect(same.text).toBe("Nothing would change on the hub or on any member.\n");
});

test("a plan of a change of the hub alone exits with 0, and with 1 on request", async () => {
  const file = write(makeDeployment("default/lone").replicas(3).build());

  const [plan, any] = [await run("plan", "-f", file), await run("plan", "-f", file, "--exit-on", "any")];
  const json = JSON.parse((await run("plan", "-f", file, "-o", "json")).text) as { changesMembers: boolean };

  expect([plan.code, any.code]).toEqual([0, 1]);
  expect(plan.text).toMatch(/^1 change on the hub, none on any member:\n/);
  expect(json.changesMembers).toBe(false);
});

test("a plan with problems exits with 3 on request", async () => {
  const file = write(makePolicy("default/all").selects("apps/v1", "Deployment", "web").duplicates("gone").build());

  const codes = [
    (await run("plan", "-f", file)).code,
    (await run("plan", "-f", file, "--fail-on-problems")).code,
    (await run("plan", "-f", write(makeDeployment("default/web").replicas(6).build()), "--fail-on-problems")).code,
  ];

  expect(codes).toEqual([0, 3, 1]);
});

test("both print JSON on request", async () => {
  const why = JSON.parse((await run("why", "deployment/web", "-o", "json")).text) as { kind: string };
  const plan = JSON.parse((await run("plan", "--without-cluster", "member2", "-o", "json")).text) as {
    changes: { cluster: string; action: string }[];
  };

  expect(why.kind).toBe("Explanation");
  expect(plan.changes.map(({ cluster, action }) => [cluster, action])).toEqual([
    ["member1", "update"],
    ["member2", "delete"],
  ]);
});

const edit = (save: (text: string) => string, ...argv: string[]): ReturnType<typeof runCommand> =>
  runCommand({ ...fleet, edit: save }, "edit", ...argv);

test("an edit shows what it changes on each member, and writes only the changed fields", async () => {
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "default", name: "web" },
    { metadata: { labels: { team: "a" } } },
    { type: "merge" },
  );
  let shown = "";

  const { code, text } = await edit(
    (yaml) => {
      shown = yaml;
      return yaml.replace("replicas: 4", "replicas: 6").replace("    team: a\n", "");
    },
    "deployment/web",
    "--yes",
  );

  expect(code).toBe(0);
  expect(shown).toMatch(/^# Edit the object below/);
  expect(shown).not.toMatch(/managedFields|status:|uid:/);
  expect(text).toContain("member1\n  ~ Deployment default/web\n");
  expect(text).toContain("spec.replicas: 2 → 3");
  expect(text).toContain("deployment.apps/web changed");
  const { metadata, spec } = await fleet.client.get(Deployment, {
    cluster: "hub",
    namespace: "default",
    name: "web",
  });
  expect(spec.replicas).toBe(6);
  expect(metadata.labels).not.toHaveProperty("team");
});

test("an edit without changes, or with an empty file, writes nothing", async () => {
  expect(await edit((yaml) => yaml, "deployment", "web", "--yes")).toEqual({
    code: 0,
    text: "Edit cancelled, no changes made.\n",
  });
  expect(await edit(() => "# nothing\n", "deployment/web", "--yes")).toEqual({
    code: 0,
    text: "Edit cancelled, the saved file is empty.\n",
  });
});

test("a rejected edit is opened again with the reason and the text, until it is valid", async () => {
  const shown: string[] = [];
  const saves = [
    (yaml: string) => yaml.replace("replicas: 4", "replicas: -4"),
    (yaml: string) => yaml.replace("name: web\n", "name: other\n"),
    (yaml: string) => `${yaml}: [\n`,
    (yaml: string) =>
      yaml.replace(": [\n", "").replace("name: other\n", "name: web\n").replace("replicas: -4", "replicas: 5"),
  ];

  const { code, text } = await edit(
    (yaml) => {
      shown.push(yaml);
      return saves[shown.length - 1]?.(yaml) ?? yaml;
    },
    "deployment/web",
    "--yes",
  );

  expect(shown[1]).toMatch(/# .*spec\.replicas: Invalid value: -4/s);
  expect(shown[1]).toContain("replicas: -4");
  expect(shown[2]).toContain("cannot be changed; it is Deployment default/web");
  expect(shown[3]).toContain("the file is not valid YAML");
  expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("deployment.apps/web changed") });
});

test("an edit that misspells a field is rejected", async () => {
  const shown: string[] = [];

  const { code } = await edit(
    (yaml) => {
      shown.push(yaml);
      return yaml.replace("replicas: 4", "replicaz: 6");
    },
    "deployment/web",
    "--yes",
  );

  expect(code).toBe(1);
  expect(shown[1]).toContain('unknown field "spec.replicaz"');
});

test("an edit that stays rejected fails, and an object that does not exist is reported", async () => {
  expect(await edit((yaml) => yaml.replace("replicas: 4", "replicas: -4"), "deployment/web", "--yes")).toEqual({
    code: 1,
    text: "Edit cancelled, no valid changes were saved.\n",
  });
  await expect(edit((yaml) => yaml, "deployment/gone", "--yes")).rejects.toThrow(
    "Deployment default/gone not found on the hub",
  );
  await expect(edit((yaml) => yaml, "deployment/web")).rejects.toThrow("cannot ask for confirmation");
});

test("deleting a namespace or a CustomResourceDefinition names what is deleted with it", async () => {
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "rel" } });
  await fleet.client.create(CustomResourceDefinition, "hub", lampDefinition);
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("rel/all").selects("apps/v1", "Deployment", "web").weights({ member1: 1, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("rel/web").replicas(4).build());
  await fleet.run(SETTLED_MS);
  const lamps = dynamicKind({
    group: "example.com",
    version: "v1",
    kind: "Lamp",
    plural: "lamps",
    scope: "Namespaced",
  });
  for (const name of ["desk", "hall"])
    await fleet.client.create(lamps, "hub", {
      apiVersion: "example.com/v1",
      kind: "Lamp",
      metadata: { namespace: "default", name },
    });

  expect((await run("delete", "ns/rel", "--yes")).text).toContain(
    "- Namespace rel: on the hub and on member1, member2, and everything in it: Deployment web on member1 (2 replicas), member2 (2 replicas). Objects in it",
  );
  expect((await run("delete", "crd/lamps.example.com", "--yes")).text).toContain(
    "- CustomResourceDefinition lamps.example.com: on the hub, and all 2 Lamps of the hub\n",
  );
});

test("a copy that a finalizer holds on a member is not reported as deleted", async () => {
  const copy = { cluster: "member1", namespace: "default", name: "web" };
  const during = async <T>(command: Promise<T>): Promise<T> => {
    const [result] = await Promise.all([command, fleet.run(SETTLED_MS)]);
    return result;
  };
  await fleet.client.patch(Deployment, copy, { metadata: { finalizers: ["example.com/hold"] } }, { type: "merge" });
  const held =
    "on member1: Deployment default/web is being deleted on the member and waits for the finalizer example.com/hold";

  await expect(during(run("delete", "deployment/web", "--yes", "--wait", "--timeout", "10"))).rejects.toThrow(
    `Deployment default/web still exists ${held} after 10 s`,
  );
  await expect(during(run("wait", "deployment/web", "--for", "delete", "--timeout", "10"))).rejects.toThrow(
    `Deployment default/web still exists ${held} after 10 s`,
  );
  await expect(run("why", "deployment/web")).rejects.toThrow(`not found on the hub, but still ${held}`);
  expect((await run("status")).text).toMatch(
    /^UNHEALTHY: 1 Work waiting for a deletion\n {2}Work \S+: Deployment default\/web is being deleted on the member and waits for the finalizer example\.com\/hold$/m,
  );
  const { items: events } = await fleet.client.list(Event, { cluster: "hub", namespace: "karmada-es-member1" });
  expect(events.map(({ reason, message = "" }) => [reason, message.replace(/work\(\S+\)/, "work")])).toEqual([
    [
      "WaitingForDeletion",
      "work waits until cluster(member1) has deleted its object: Deployment default/web is being deleted on " +
        "the member and waits for the finalizer example.com/hold",
    ],
  ]);

  await fleet.client.patch(Deployment, copy, { metadata: { finalizers: null } }, { type: "merge" });

  expect((await during(run("wait", "deployment/web", "--for", "delete"))).text).toContain(
    "Deployment default/web is gone",
  );
  expect((await run("status")).text).toContain("No problems found");
});

test("an object of the hub that a finalizer holds is not reported as deleted, and is named with the finalizer", async () => {
  const key = { cluster: "hub", namespace: "default", name: "web" };
  await fleet.client.patch(Deployment, key, { metadata: { finalizers: ["example.com/stuck"] } }, { type: "merge" });

  expect((await run("delete", "deployment/web", "--yes")).text).toContain(
    "deployment.apps/web deletion requested; it waits for the finalizer example.com/stuck, and members keep their copies until then",
  );
  await fleet.run(SETTLED_MS);

  const held = /it is being deleted on the hub since \S+ and waits for the finalizer\s+example\.com\/stuck/;
  expect((await run("why", "deployment/web")).text).toMatch(held);
  const { text } = await run("status");
  expect(text).toMatch(/^UNHEALTHY: 1 object waiting for a finalizer\n/m);
  expect(text).toMatch(/^default +web +Deployment .* Deleting /m);

  await fleet.client.patch(Deployment, key, { metadata: { finalizers: null } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  expect((await run("status")).text).toContain("No problems found");
});

test("an object that is created again waits until the member has deleted the copy before", async () => {
  const copy = { cluster: "member1", namespace: "default", name: "web" };
  await fleet.client.patch(Deployment, copy, { metadata: { finalizers: ["example.com/hold"] } }, { type: "merge" });
  await fleet.client.delete(Deployment, { ...copy, cluster: "hub" });
  await fleet.run(SETTLED_MS);
  await fleet.client.create(Deployment, "hub", makeDeployment("default/web").replicas(4).build());
  await fleet.run(SETTLED_MS);

  expect((await run("why", "deployment/web")).text).toMatch(
    /member1: .*being deleted on the member and waits for the finalizer\s+example.com\/hold/,
  );
  expect((await run("status")).text).toContain("waits for the finalizer example.com/hold");

  await fleet.client.patch(Deployment, copy, { metadata: { finalizers: null } }, { type: "merge" });
  await fleet.run(SETTLED_MS);

  expect((await run("why", "deployment/web")).text).toContain("member1: 2 replicas, applied");
});

test("a policy that names clusters that are not members is reported once, before what follows from it", async () => {
  const names = ["a", "b", "c"];
  const typo = makePolicy("default/typo").duplicates("memeber1", "memeber2").build();
  typo.spec.resourceSelectors = names.map((name) => ({ apiVersion: "apps/v1", kind: "Deployment", name }));
  await fleet.client.create(PropagationPolicy, "hub", typo);
  for (const name of names)
    await fleet.client.create(Deployment, "hub", makeDeployment(`default/${name}`).replicas(1).build());
  await fleet.run(SETTLED_MS);
  const cause = "names memeber1, memeber2, which are not members";

  const [status, why] = [(await run("status")).text, (await run("why", "deployment/b")).text];

  expect(status.match(/UNHEALTHY.*\n(  .*\n)*/)?.[0]).toBe(
    `UNHEALTHY: 1 policy without members\n  PropagationPolicy default/typo: it ${cause}, so 3 objects are not ` +
      "scheduled: Deployment default/a, Deployment default/b, Deployment default/c\n",
  );
  expect(why.slice(why.indexOf("PROBLEMS"))).toMatch(
    /^PROBLEMS\n  the policy names memeber1, memeber2, which are not members of the fleet, so scheduling failed/,
  );

  await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "default", name: "typo" });
  await fleet.run(SETTLED_MS);
  const [later, whyLater] = [(await run("status")).text, (await run("why", "deployment/b")).text];

  expect(later).toContain("ResourceBinding default/b-deployment: no policy selects its object any longer");
  expect(whyLater).toContain("kubectl delete resourcebinding b-deployment -n default");
  expect(whyLater).not.toContain("the policy names");
});

test("an object whose policy was deleted keeps its copies, and every command says so when it is scaled", async () => {
  await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "default", name: "all" });
  await fleet.run(SETTLED_MS);
  const file = write(makeDeployment("default/web").replicas(9).build());
  const cause =
    "no policy selects it any longer: its members keep their copies, and changed replicas do not reach them";

  const plan = await run("plan", "-f", file, "--fail-on-problems");
  const applied = failureOf(run("apply", "-f", file, "--yes", "--wait", "--timeout", "5"));
  await fleet.run(SETTLED_MS);
  const waited = failureOf(run("wait", "deployment/web", "--timeout", "1"));
  await fleet.run(SETTLED_MS);
  const doctor = await run("doctor", "--only", "bindings");

  expect(plan.text).toContain(`Notes:\n  Deployment default/web: ${cause}`);
  expect(await applied).toContain(`Deployment default/web on hub: ${cause}`);
  expect(await waited).toContain(`Deployment default/web on hub: ${cause}`);
  expect((await run("why", "deployment/web")).text).toContain(
    "no policy selects it any longer; its binding remains, and so do its copies",
  );
  expect(doctor.text).toMatch(/No policy selects it any longer, and its binding\s+remains/);
  expect(doctor.code).toBe(1);
  expect((await run("status")).text).toMatch(/web +Deployment +0\/9 +NoPolicy +member1=2 member2=2/);
});

test("wait takes all objects of types, or those with labels, and not names beside them", async () => {
  const labelled = { metadata: { labels: { team: "blue" } } };
  await fleet.client.patch(Deployment, { cluster: "hub", namespace: "default", name: "lone" }, labelled, {
    type: "merge",
  });
  const waitFor = async (...argv: string[]): Promise<string> => {
    const failed = failureOf(run("wait", "deployment", ...argv, "--timeout", "1"));
    await fleet.run(SETTLED_MS);
    return failed;
  };

  const everything = await waitFor("--all");
  expect(everything).toContain("Deployment default/web");
  expect(everything).toContain("Deployment default/lone");
  const blue = await waitFor("-l", "team=blue");
  expect(blue).not.toContain("Deployment default/web");
  expect(blue).toContain("Deployment default/lone");
  expect(await waitFor("-l", "team=red")).toBe("the hub has no such object with the labels team=red to wait for");
  expect(await waitFor("-l", "team=red", "--for", "delete")).toBe("it succeeded");
  expect(await waitFor("web", "--all")).toContain("--all needs types without names");
  expect(await waitFor("-l", "team in")).toContain("-l 'team in' is not a valid selector");
  expect(await waitFor()).toContain("add --all or -l SELECTOR");
});

const failureOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
