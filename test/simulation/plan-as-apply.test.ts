/** `flotilla plan` predicts `flotilla apply`: on the hub and on every member, with exit codes that scripts can rely on. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClusterRole, ConfigMap, CustomResourceDefinition, Deployment, Job, Namespace } from "@flotilla/kubernetes";
import { CloneSet, SidecarSet } from "@flotilla/openkruise";
import { OverridePolicy, PropagationPolicy, Work } from "@flotilla/karmada";
import { inVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createClient, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { FleetRollout } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 60_000;
const KRUISE = "apps.kruise.io/v1alpha1";
const merge = { type: "merge" } as const;
const MEMBERS = ["member1", "member2", "member3"];
let fleet: TestFleet;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "plan-"));
  fleet = await startTestFleet({ members: MEMBERS });
  client = fleet.client;
});
afterEach(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true });
});

/** With `client`, which is the fleet's unless a test wraps it. */
let client: Client;
const run = (name: string, ...argv: string[]): ReturnType<typeof runCommand> =>
  runCommand({ client, clock: fleet.clock }, name, ...argv);
/** The hub reconciles everything between two writes. */
function reconcilingBetweenWrites(): Client {
  const { create, patch } = fleet.client;
  const settled = async <T>(written: Promise<T>): Promise<T> => {
    const object = await written;
    await fleet.run(1_000);
    return object;
  };
  return {
    ...fleet.client,
    create: (...args: Parameters<Client["create"]>) => settled(create(...args)),
    patch: (...args: Parameters<Client["patch"]>) => settled(patch(...args)),
  } as Client;
}
function write(...objects: readonly unknown[]): string {
  const file = join(folder, "input.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return file;
}
const plan = (...objects: readonly unknown[]): ReturnType<typeof run> => run("plan", "-f", write(...objects));
async function apply(...objects: readonly unknown[]): Promise<string> {
  const { code, text } = await run("apply", "-f", write(...objects), "--yes");
  expect(code, text).toBe(0);
  await fleet.run(SETTLED_MS);
  return text;
}

const NOTHING = "Nothing would change on the hub or on any member.\n";
const configMap = (data: Record<string, string> = { a: "1" }): KubernetesObject =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "c" }, data }) as KubernetesObject;
const everywhere = (apiVersion: string, kind: string): KubernetesObject =>
  makePolicy(`default/${kind.toLowerCase()}`)
    .selects(apiVersion, kind)
    .duplicates(...MEMBERS)
    .build();

describe("a plan after an apply", () => {
  test("ignores annotations, labels and finalizers that other clients set", async () => {
    await apply(everywhere("v1", "ConfigMap"), configMap());
    await fleet.client.patch(
      ConfigMap,
      { cluster: "hub", namespace: "default", name: "c" },
      { metadata: { annotations: { note: "1" }, labels: { team: "web" }, finalizers: ["example.com/keep"] } },
      { type: "merge", fieldManager: "other" },
    );
    await fleet.run(SETTLED_MS);

    expect(await plan(configMap())).toEqual({ code: 0, text: NOTHING });
    expect(await apply(configMap())).toContain("configmap/c unchanged");
  });

  test("reports an annotation that the manifest removes", async () => {
    const noted = { ...configMap(), metadata: { ...configMap().metadata, annotations: { note: "1" } } };
    await apply(everywhere("v1", "ConfigMap"), noted);

    const { code, text } = await plan(configMap());

    expect(code).toBe(1);
    expect(text).toMatch(/^1 change on the hub, 3 changes on 3 clusters:\n\nhub\n {2}~ ConfigMap default\/c\n/);
    expect(text.match(/metadata\.annotations\.note: 1 \(removed\)/g)).toHaveLength(4);
  });

  test("reports a change that only the hub's object gets", async () => {
    await apply(configMap());

    expect(await plan(configMap({ a: "2" }))).toEqual({
      code: 0,
      text:
        "1 change on the hub, none on any member:\n" +
        "\n" +
        "hub\n" +
        "  ~ ConfigMap default/c\n" +
        "      data.a: 1 → 2\n" +
        "\n" +
        "Notes:\n" +
        "  ConfigMap default/c: no policy selects it, so it is not propagated to members\n",
    });
  });

  test("reports the record of the last applied manifest where nothing else changes", async () => {
    await apply(makeDeployment("default/web").replicas(1).build());
    const { replicas: _, ...spec } = makeDeployment("default/web").build().spec;

    const { code, text } = await plan({ ...makeDeployment("default/web").build(), spec });

    expect(code).toBe(0);
    expect(text).toContain("~ Deployment default/web (only the record of the last applied manifest changes)");
  });

  test("says nothing for an object that another client created", async () => {
    await fleet.client.create(ConfigMap, "hub", configMap());

    expect(await plan(configMap())).toEqual({ code: 0, text: NOTHING });
  });
});

describe("an object that a member already has", () => {
  const theirs = makeDeployment("default/web").replicas(1).image("other:7").build();
  const ours = makeDeployment("default/web").replicas(1).image("web:1").build();

  test("stays as it is if Flotilla did not create it, and the plan says so", async () => {
    await fleet.client.create(Deployment, "member1", theirs);

    const { code, text } = await plan(everywhere("apps/v1", "Deployment"), ours);
    await apply(everywhere("apps/v1", "Deployment"), ours);

    expect(code).toBe(1);
    expect(text).toContain("2 changes on the hub, 2 changes on 2 clusters:");
    expect(text).toContain(
      "Deployment default/web: resource(kind=Deployment, default/web) already exists in the cluster member1",
    );
    expect(text).toContain("'flotilla adopt deployment/web -n default --from member1'");
    expect(await imagesOf("web")).toEqual(["other:7", "web:1", "web:1"]);
    // The Work exists now, and its copy is still not applied.
    const next = await plan(makeDeployment("default/web").replicas(1).image("web:2").build());
    expect(next.text).toContain("1 change on the hub, 2 changes on 2 clusters:");
    expect(next.text).toContain("already exists in the cluster member1");
  });

  test("is shown with the fields that change if the policy takes it over", async () => {
    await fleet.client.create(Deployment, "member1", theirs);
    const policy = everywhere("apps/v1", "Deployment") as PropagationPolicy;
    const taking = { ...policy, spec: { ...policy.spec, conflictResolution: "Overwrite" } };

    const { text } = await plan(taking, ours);
    await apply(taking, ours);

    expect(text).toContain(
      "member1\n" +
        "  ~ Deployment default/web (the hub takes over the object that exists there)\n" +
        "      spec.template.spec.containers[web].image: other:7 → web:1\n" +
        "\n" +
        "member2\n" +
        "  + Deployment",
    );
    expect(await imagesOf("web")).toEqual(["web:1", "web:1", "web:1"]);
  });

  test("is found in the version that the member serves", async () => {
    const definition = { cluster: "member1", name: "clonesets.apps.kruise.io" };
    const { spec } = await fleet.client.get(CustomResourceDefinition, definition);
    const versions = spec.versions.map((version) => ({ ...version, served: version.name === "v1beta1" }));
    await fleet.client.patch(CustomResourceDefinition, definition, { spec: { versions: versions as never } }, merge);
    const cloneSet = makeCloneSet("default/web").replicas(1).image("other:7").build();
    await fleet.client.create(inVersion(CloneSet, "v1beta1"), "member1", {
      ...cloneSet,
      apiVersion: "apps.kruise.io/v1beta1",
    });
    await fleet.run(SETTLED_MS);
    const asked = { ...makeCloneSet("default/web").replicas(1).image("web:1").build(), apiVersion: KRUISE };
    const policy = everywhere(KRUISE, "CloneSet") as PropagationPolicy;
    const taking = { ...policy, spec: { ...policy.spec, conflictResolution: "Overwrite" } };

    const kept = await plan(policy, asked);
    const taken = await plan(taking, asked);

    expect(kept.text).toContain(
      "CloneSet default/web: resource(kind=CloneSet, default/web) already exists in the cluster member1",
    );
    expect(taken.text).toContain(
      "member1\n  ~ CloneSet default/web (the hub takes over the object that exists there)\n      spec.template.spec.containers[web].image: other:7 → web:1\n",
    );
  });

  test("an object that a member already has that was not looked at is named", async () => {
    client = {
      ...fleet.client,
      raw: (request, signal) =>
        request.path.includes("/member2/proxy/apis/apps")
          ? Promise.reject(new Error("connection refused"))
          : fleet.client.raw(request, signal),
    };

    const { text } = await plan(everywhere("apps/v1", "Deployment"), ours);

    expect(text).toContain(
      "member2: not checked whether it already has Deployment default/web from another owner: connection refused",
    );
  });

  const imagesOf = async (name: string): Promise<(string | undefined)[]> =>
    Promise.all(
      MEMBERS.map(async (cluster) => {
        const found = await find(fleet.client, Deployment, { cluster, namespace: "default", name });
        return found?.spec.template.spec?.containers[0]?.image;
      }),
    );
});

describe("manifests that need each other", () => {
  const shop = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: { size: { type: "integer", default: 3 }, colour: { type: "string" } },
                },
              },
            },
          },
        },
      ],
    },
  };
  const widget = {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { namespace: "shop", name: "w" },
    spec: { colour: "blue" },
  };
  const definitions = {
    ...makePolicy("x/crds")
      .selects("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com")
      .duplicates("member1")
      .build(),
    kind: "ClusterPropagationPolicy",
    metadata: { name: "crds" },
  };
  const widgets = makePolicy("shop/widgets").selects("example.com/v1", "Widget").duplicates("member1").build();
  const paint = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "paint" },
    spec: {
      resourceSelectors: [{ apiVersion: "example.com/v1", kind: "Widget" }],
      overrideRules: [{ overriders: { plaintext: [{ path: "/spec/colour", operator: "replace", value: "red" }] } }],
    },
  };

  test("are planned with their Namespace", async () => {
    const file = join(import.meta.dirname, "../../examples/shop/shop.yaml");

    const planned = await run("plan", "-f", file);
    await run("apply", "-f", file, "--yes");
    await fleet.run(SETTLED_MS);

    expect(planned.code).toBe(1);
    expect(planned.text).toContain("hub\n  + Namespace shop\n  + PropagationPolicy shop/shop\n  + CloneSet shop/web\n");
    expect(planned.text).toContain("member1\n  + CloneSet shop/web\n      spec.replicas: 10 → 5\n");
    expect(planned.text).not.toContain("Problems");
    expect(await run("plan", "-f", file)).toEqual({ code: 0, text: NOTHING });
    const web = await fleet.client.get(CloneSet, { cluster: "member1", namespace: "shop", name: "web" });
    expect(web.spec.replicas).toBe(5);
    expect(readFileSync(file, "utf8")).toContain("kind: Namespace");
  });

  test("change nothing on members that have the Namespace", async () => {
    for (const cluster of MEMBERS) await fleet.client.create(Namespace, cluster, shop);
    const metadata = (): Promise<unknown[]> =>
      Promise.all(
        MEMBERS.map(async (cluster) => (await fleet.client.get(Namespace, { cluster, name: "shop" })).metadata),
      );
    const before = await metadata();

    const planned = await plan({ ...shop, metadata: { name: "shop", labels: { team: "web" } } });
    await apply({ ...shop, metadata: { name: "shop", labels: { team: "web" } } });
    const relabelled = await plan({ ...shop, metadata: { name: "shop", labels: { team: "shop" } } });

    expect(planned.text).toContain(
      "  Namespace shop: member1, member2, member3 keep the existing namespace as it is\n",
    );
    expect(planned.code).toBe(0);
    expect(relabelled.code).toBe(0);
    expect(await metadata()).toEqual(before);
  });

  test("change the labels of a Namespace that the hub has delivered", async () => {
    await apply(shop);
    await fleet.run(SETTLED_MS);

    const planned = await plan({ ...shop, metadata: { name: "shop", labels: { team: "web" } } });

    expect(planned.code).toBe(1);
    expect(planned.text).toContain("member1\n  ~ Namespace shop\n      metadata.labels.team: web (new)\n");
  });

  test("are planned with their CRD, in whatever order they are given", async () => {
    const all = [widget, widgets, paint, definitions, definition, shop];

    const planned = await plan(...all);
    const applied = await apply(...all);

    expect(planned.code).toBe(1);
    expect(planned.text).toContain("+ CustomResourceDefinition widgets.example.com\n");
    expect(planned.text).toContain("+ Widget shop/w\n      spec.colour: blue → red\n");
    expect(planned.text).not.toContain("Problems");
    expect([...applied.matchAll(/^(\S+) created$/gm)].map(([, name]) => name)).toEqual([
      "namespace/shop",
      "customresourcedefinition.apiextensions.k8s.io/widgets.example.com",
      "overridepolicy.policy.karmada.io/paint",
      "propagationpolicy.policy.karmada.io/widgets",
      "clusterpropagationpolicy.policy.karmada.io/crds",
      "widget.example.com/w",
    ]);
    expect(await plan(...all)).toEqual({ code: 0, text: NOTHING });
  });

  test("are planned with the changed schema of their CRD", async () => {
    await apply(shop, definition, definitions, widgets, widget);
    const changed = structuredClone(definition) as typeof definition & JsonObject;
    Object.assign(changed.spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties ?? {}, {
      shape: { type: "string", default: "round" },
    });

    const { text } = await plan({ ...widget, spec: { colour: "green", shape: "oval" } }, changed);

    expect(text).toContain("~ Widget shop/w\n      spec.colour: blue → green\n      spec.shape: oval (new)\n");
  });

  test("are planned with their interpreter customization", async () => {
    const size = {
      apiVersion: "config.karmada.io/v1alpha1",
      kind: "ResourceInterpreterCustomization",
      metadata: { name: "widgets" },
      spec: {
        target: { apiVersion: "example.com/v1", kind: "Widget" },
        customizations: {
          replicaResource: { luaScript: "function GetReplicas(obj) return obj.spec.size, nil end" },
          replicaRevision: {
            luaScript: "function ReviseReplica(obj, n) obj.spec.size = n; return obj end",
          },
        },
      },
    };
    await apply(shop, definition, { ...definitions, spec: everywhereSpec(definitions) });
    const divided = makePolicy("shop/widgets")
      .selects("example.com/v1", "Widget")
      .weights({ member1: 2, member2: 1 })
      .build();

    const planned = await plan(widget, divided, size);
    await apply(widget, divided, size);

    expect(planned.text).toContain("member1\n  + Widget shop/w\n      spec.size: 3 → 2\n");
    expect(await plan(widget, divided, size)).toEqual({ code: 0, text: NOTHING });
  });

  const everywhereSpec = (policy: { spec: object }): object => ({ ...policy.spec, placement: {} });

  test("fail if neither the files nor the hub have the Namespace", async () => {
    await expect(plan(widgets)).rejects.toThrow("namespace shop not found; create it first, or add its manifest");
  });
});

describe("mistakes in manifests", () => {
  const YES: Record<string, string[]> = { plan: [], apply: ["--yes"] };
  const webKey = { cluster: "hub", namespace: "default", name: "web" };
  const misspelt = {
    ...makeDeployment("default/web").build(),
    spec: { ...makeDeployment("default/web").build().spec, replcias: 3 },
  };

  test("an unknown field is rejected by plan and apply, as by kubectl", async () => {
    for (const command of ["plan", "apply"])
      expect(await failureOf(run(command, "-f", write(misspelt), ...(YES[command] ?? [])))).toContain(
        'strict decoding error: unknown field "spec.replcias"',
      );

    expect(await find(fleet.client, Deployment, webKey)).toBeUndefined();
  });

  test("an unknown field of an object that was applied before is rejected", async () => {
    await apply(makeDeployment("default/web").replicas(4).build());

    expect(await failureOf(run("apply", "-f", write(misspelt), "--yes"))).toContain('unknown field "spec.replcias"');

    expect((await fleet.client.get(Deployment, webKey)).spec.replicas).toBe(4);
  });

  const failureOf = (running: Promise<unknown>): Promise<string> => running.then(() => "it succeeded", messageOf);

  test("warnings of the hub are part of the plan, also as JSON and before an apply", async () => {
    const file = write(makePolicy("default/web").selects("apps/v1", "Deployment").duplicates("memebr2").build());
    client = createClient({
      transport: fleet.hub.server.transport({ name: "ann", groups: ["system:masters"] }),
      fieldManager: "kubectl",
    });
    const message = expect.stringContaining("no joined cluster is named memebr2") as string;

    const json = await run("plan", "-f", file, "-o", "json");

    expect((JSON.parse(json.text) as PlanResult).warnings).toEqual([
      { resource: "PropagationPolicy default/web", message },
    ]);
    for (const command of ["plan", "apply"])
      expect((await run(command, "-f", file, ...(YES[command] ?? []))).text).toContain(
        "Warnings:\n  PropagationPolicy default/web: ",
      );
  });
});

describe("a ManifestWork", () => {
  const work = (manifests: JsonObject[], spec: JsonObject = {}): JsonObject => ({
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: "member1", name: "web" },
    spec: { workload: { manifests }, ...spec },
  });
  const cloneSet = (replicas: number): JsonObject =>
    makeCloneSet("default/web").replicas(replicas).build() as unknown as JsonObject;

  test("is planned with the changes of its manifests on the member", async () => {
    await apply(work([cloneSet(2), configMap() as unknown as JsonObject]));

    const { code, text } = await plan(work([cloneSet(3)]));

    expect(code).toBe(1);
    expect(text).toMatch(/^1 change on the hub, 2 changes on 1 cluster:\n/);
    expect(text).toContain("spec.workload.manifests[CloneSet default/web].spec.replicas: 2 → 3\n");
    expect(text).toContain("member1\n  ~ CloneSet default/web\n      spec.replicas: 2 → 3\n  - ConfigMap default/c\n");
  });

  test("has problems if the hub rejects one of its manifests", async () => {
    const misspelt = cloneSet(2);
    Object.assign(misspelt["spec"] as JsonObject, { replcias: 3 });

    const { text } = await plan(work([misspelt]));

    expect(text).toContain("Problems:\n  ManifestWork member1/web: CloneSet default/web: ");
    expect(text).toContain("spec.replcias");
  });

  test("does not change what it only creates", async () => {
    const strategy = {
      manifestConfigs: [
        {
          resourceIdentifier: { group: "apps.kruise.io", resource: "clonesets", namespace: "default", name: "web" },
          updateStrategy: { type: "CreateOnly" },
        },
      ],
    };
    await apply(work([cloneSet(2)], strategy));

    const { text } = await plan(work([cloneSet(3)], strategy));

    expect(text).toMatch(/^1 change on the hub, none on any member:\n/);
    expect(text).toContain("CloneSet default/web on member1 stays: its update strategy is CreateOnly");
  });

  test("a ManifestWork of a ManifestWorkReplicaSet is not planned, and the plan reports it", async () => {
    const { text } = await plan({
      apiVersion: "work.open-cluster-management.io/v1alpha1",
      kind: "ManifestWorkReplicaSet",
      metadata: { namespace: "default", name: "web" },
      spec: {
        placementRefs: [{ name: "all", rolloutStrategy: { type: "All" } }],
        manifestWorkTemplate: { workload: { manifests: [cloneSet(2)] } },
      },
    });

    expect(text).toMatch(/^1 change on the hub, changes on members are not planned:\n/);
    expect(text).toContain(
      "ManifestWorkReplicaSet default/web: the plan does not cover the ManifestWorks that follow from it",
    );
  });
});

describe("a pipeline with permissions in one namespace", () => {
  const subjects = [{ kind: "ServiceAccount", namespace: "default", name: "ci" }];
  const bind = (kind: "RoleBinding" | "ClusterRoleBinding", role: string): Promise<string> =>
    apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind,
      metadata: { name: `ci-${role.replace(":", "-")}`, namespace: kind === "RoleBinding" ? "default" : undefined },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects,
    });
  const asPipeline = (): void => {
    client = createClient({
      transport: fleet.hub.server.transport({
        name: "system:serviceaccount:default:ci",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      }),
      fieldManager: "kubectl",
    });
  };
  const web = makeDeployment("default/web").replicas(3).build();

  test("learns everything that it may not read at once, and which role has it", async () => {
    await bind("RoleBinding", "admin");
    asPipeline();

    await expect(plan(web)).rejects.toThrow(
      "you may not list these in all namespaces of the hub: clusteroverridepolicies.policy.karmada.io, " +
        "clusterpropagationpolicies.policy.karmada.io, clusterresourcebindings.work.karmada.io, " +
        "clusters.cluster.karmada.io, federatedresourcequotas.policy.karmada.io, fleetrollouts.flotilla.dev, " +
        "overridepolicies.policy.karmada.io, priorityclasses.scheduling.k8s.io, " +
        "propagationpolicies.policy.karmada.io, resourcebindings.work.karmada.io, " +
        "resourceinterpretercustomizations.config.karmada.io, " +
        "resourceinterpreterwebhookconfigurations.config.karmada.io, rollouts.rollouts.kruise.io, " +
        "rolloutstrategies.flotilla.dev, works.work.karmada.io, and the kinds that policies select. Ask an " +
        "administrator to bind the ClusterRole flotilla:planner",
    );
  });

  test("learns which label adds the kind of another team to the role that it has", async () => {
    await apply({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "lamps.example.com" },
      spec: {
        group: "example.com",
        names: { plural: "lamps", singular: "lamp", kind: "Lamp" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    await apply(everywhere("apps/v1", "Deployment"), everywhere("example.com/v1", "Lamp"));
    await bind("RoleBinding", "admin");
    await bind("ClusterRoleBinding", "flotilla:planner");
    const { client: administrator } = fleet;
    asPipeline();

    await expect(plan(web)).rejects.toThrow(
      "you may not list these in all namespaces of the hub: lamps.example.com. If the ClusterRole " +
        "flotilla:planner is bound to you, it gets kinds that it lacks from a ClusterRole with the label " +
        'flotilla.dev/aggregate-to-planner: "true" that allows get and list of lamps.example.com: ask an ' +
        "administrator to create it.",
    );

    await administrator.create(ClusterRole, "hub", {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "lamps-planner", labels: { "flotilla.dev/aggregate-to-planner": "true" } },
      rules: [{ apiGroups: ["example.com"], resources: ["lamps"], verbs: ["get", "list"] }],
    });
    await fleet.run(20_000);

    expect((await plan(web)).text).toMatch(/^1 change on the hub, 3 changes on 3 clusters:\n/);
  });

  test("plans and applies with the role flotilla:planner", async () => {
    await apply(everywhere("apps/v1", "Deployment"), everywhere("apps.kruise.io/v1beta1", "CloneSet"));
    await bind("RoleBinding", "admin");
    await bind("ClusterRoleBinding", "flotilla:planner");
    asPipeline();

    const planned = await plan(web);

    expect(planned.text).toMatch(/^1 change on the hub, 3 changes on 3 clusters:\n/);
    expect((await run("apply", "-f", write(web), "--yes")).code).toBe(0);
    await expect(run("plan", "-f", write(everywhere("apps/v1", "StatefulSet")))).rejects.toThrow("on the hub");
  });
});

describe("what the server fills in", () => {
  const job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "default", name: "seed" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "seed", image: "seed:1" }] } } },
  };

  test("is not a change: generated labels of a Job", async () => {
    const planned = await plan(everywhere("batch/v1", "Job"), job);

    expect(planned.text).toContain("member1\n  + Job default/seed\n\nmember2\n  + Job default/seed\n\n");
    await apply(everywhere("batch/v1", "Job"), job);
    expect(await plan(everywhere("batch/v1", "Job"), job)).toEqual({ code: 0, text: NOTHING });
    expect(await find(fleet.client, Job, { cluster: "member1", namespace: "default", name: "seed" })).toBeDefined();
  });

  test("is kept on members, however often the Job changes", async () => {
    const queue = (parallelism: number): object => ({ ...job, spec: { ...job.spec, parallelism } });
    await apply(everywhere("batch/v1", "Job"), queue(1));

    for (const parallelism of [2, 3, 4, 5]) await apply(queue(parallelism));

    const { spec } = await fleet.client.get(Job, { cluster: "member1", namespace: "default", name: "seed" });
    expect(spec.parallelism).toBe(5);
    expect(spec.template.metadata?.labels).toMatchObject(spec.selector?.matchLabels ?? {});
  });

  test("is not a change: the addresses of a Service", async () => {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "default", name: "web" },
      spec: { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80 }] },
    };

    const policy = makePolicy("default/web")
      .selects("v1", "Service", "web")
      .duplicates(...MEMBERS)
      .build();

    const planned = await plan(policy, service);
    await apply(policy, service);

    expect(planned.text).toContain("member1\n  + Service default/web\n\nmember2\n");
    expect(await plan(policy, service)).toEqual({ code: 0, text: NOTHING });
  });
});

describe("a manifest in another version than the policy selects", () => {
  const other = (version: string): string => (version === "v1alpha1" ? "v1beta1" : "v1alpha1");
  for (const version of ["v1alpha1", "v1beta1"])
    test(`is planned as applied: a CloneSet in ${version}`, async () => {
      const policy = makePolicy("default/sets")
        .selects(`apps.kruise.io/${other(version)}`, "CloneSet")
        .weights({ member1: 2, member2: 1 })
        .build();
      const cloneSet = (replicas: number): object => ({
        ...makeCloneSet("default/web").replicas(replicas).build(),
        apiVersion: `apps.kruise.io/${version}`,
      });
      const created = await plan(policy, cloneSet(6));
      await apply(policy, cloneSet(6));

      const scaled = await plan(cloneSet(9));
      await apply(cloneSet(9));

      expect(created.text).toContain("member1\n  + CloneSet default/web\n      spec.replicas: 6 → 4\n");
      expect(scaled.text).toContain("member1\n  ~ CloneSet default/web\n      spec.replicas: 4 → 6\n");
      expect(scaled.text).not.toContain("Problems");
      const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" });
      expect(
        items.flatMap(({ spec }) => (spec.workload?.manifests ?? []) as unknown as KubernetesObject[]),
      ).toContainEqual(
        expect.objectContaining({
          apiVersion: `apps.kruise.io/${other(version)}`,
          spec: expect.objectContaining({ replicas: 6 }) as unknown,
        }),
      );
      expect(await plan(policy, cloneSet(9))).toEqual({ code: 0, text: NOTHING });
    });
});

describe("the first copy on a member", () => {
  const policy = makePolicy("default/web")
    .selects("apps/v1", "Deployment", "web")
    .duplicates(...MEMBERS)
    .build();
  const deployment = makeDeployment("default/web").build();
  const mirror = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "default", name: "mirror" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      overrideRules: [
        { overriders: { imageOverrider: [{ component: "Registry", operator: "add", value: "mirror.example.com" }] } },
      ],
    },
  };
  const onMember = async (): Promise<[string | undefined, number | undefined]> => {
    const { spec, metadata } = await fleet.client.get(Deployment, {
      cluster: "member1",
      namespace: "default",
      name: "web",
    });
    return [spec.template.spec?.containers[0]?.image, metadata.generation];
  };

  test("has the overrides of the same files, in whatever order they are given", async () => {
    client = reconcilingBetweenWrites();

    await apply(deployment, policy, mirror);

    expect(await onMember()).toEqual(["mirror.example.com/web:1", 1]);
  });

  test("waits for the overrides that its policy depends on, for clients that apply in any order", async () => {
    const waiting = { ...policy, spec: { ...policy.spec, dependentOverrides: ["mirror"] } };
    await fleet.client.create(Deployment, "hub", deployment);
    await fleet.client.create(PropagationPolicy, "hub", waiting);
    await fleet.run(SETTLED_MS);
    const before = await find(fleet.client, Deployment, { cluster: "member1", namespace: "default", name: "web" });

    await fleet.client.create(OverridePolicy, "hub", mirror as unknown as OverridePolicy);
    await fleet.run(SETTLED_MS);

    expect(before).toBeUndefined();
    expect(await onMember()).toEqual(["mirror.example.com/web:1", 1]);
  });
});

describe("a template and its policy that are applied together", () => {
  const web = (image: string): object => {
    const { spec, ...set } = makeCloneSet("default/web").replicas(4).image(image).build();
    return { ...set, apiVersion: KRUISE, spec: { ...spec, updateStrategy: { partition: 3 } } };
  };
  const policy = everywhere(KRUISE, "CloneSet");
  const onMembers = (): Promise<unknown[]> =>
    Promise.all(
      MEMBERS.map(async (cluster) => {
        const { spec, metadata } = await fleet.client.get(CloneSet, { cluster, namespace: "default", name: "web" });
        return [spec.template.spec?.containers[0]?.image, metadata.generation];
      }),
    );

  test("start with the new template if the policy is the template's first, as planned", async () => {
    await apply(web("web:1"));
    client = reconcilingBetweenWrites();

    const planned = await plan(policy, web("web:2"));
    const applied = await apply(policy, web("web:2"));

    expect(await onMembers()).toEqual(MEMBERS.map(() => ["web:2", 1]));
    expect(planned.text).toContain("hub\n  ~ CloneSet default/web\n");
    expect(planned.text).toContain("member1\n  + CloneSet default/web\n\nmember2\n");
    expect(applied).toMatch(/cloneset\.apps\.kruise\.io\/web changed\n.*\/cloneset created\n/);
  });

  test("have the new template at once when a strategy comes with the same files, and are recorded in the waves that select them", async () => {
    const labelled = (image: string): object => ({
      ...makeCloneSet("default/web").labels({ release: "careful" }).replicas(4).image(image).build(),
      apiVersion: KRUISE,
    });
    await apply(labelled("web:1"));
    const strategy = {
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "RolloutStrategy",
      metadata: { namespace: "default", name: "careful" },
      spec: {
        selector: { matchLabels: { release: "careful" } },
        waves: [
          { name: "first", clusters: { names: ["member2"] } },
          { name: "rest", before: [{ approval: {} }] },
        ],
      },
    };

    const planned = await plan(policy, strategy, labelled("web:2"));
    await apply(policy, strategy, labelled("web:2"));

    expect(await onMembers()).toEqual(MEMBERS.map(() => ["web:2", 1]));
    expect(planned.text).not.toMatch(/→ web:1|approval/);
    const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "default" });
    expect(items.map(({ status }) => status?.plan?.map(({ name, clusters }) => [name, clusters]))).toEqual([
      [
        ["first", ["member2"]],
        ["rest", ["member1", "member3"]],
      ],
    ]);
  });

  test("arrive policy first if a policy has claimed the template: suspending it holds back the template", async () => {
    await apply(policy, web("web:1"));
    client = reconcilingBetweenWrites();
    const { spec } = policy as PropagationPolicy;
    const suspended = { ...policy, spec: { ...spec, suspension: { dispatching: true } } };

    await apply(web("web:2"), suspended);

    expect(await onMembers()).toEqual(MEMBERS.map(() => ["web:1", 1]));
  });
});

test("applying a v1alpha1 SidecarSet with a namespace again changes nothing", async () => {
  const sidecarSet = {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "SidecarSet",
    metadata: { name: "proxy" },
    spec: {
      namespace: "default",
      selector: { matchLabels: { app: "web" } },
      containers: [{ name: "proxy", image: "proxy:1" }],
    },
  };
  const policy = {
    ...everywhere("apps.kruise.io/v1alpha1", "SidecarSet"),
    kind: "ClusterPropagationPolicy",
    metadata: { name: "sidecars" },
  };
  await apply(policy, sidecarSet);
  const before = await fleet.client.get(SidecarSet, { cluster: "hub", name: "proxy" });

  const planned = await plan(policy, sidecarSet);
  const applied = await apply(policy, sidecarSet);

  expect(planned).toEqual({ code: 0, text: NOTHING });
  expect(applied).toContain("sidecarset.apps.kruise.io/proxy unchanged");
  const after = await fleet.client.get(SidecarSet, { cluster: "hub", name: "proxy" });
  expect(after.metadata.generation).toBe(before.metadata.generation);
});
