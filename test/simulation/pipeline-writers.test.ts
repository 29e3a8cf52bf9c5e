import { afterEach, describe, expect, test } from "vitest";
import { Cluster, PropagationPolicy, Work, WorkloadRebalancer } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { pipeline } from "../../packages/flotilla/src/propagation/pipeline.ts";

const writersOf = (field: string): string[] =>
  pipeline.filter(({ writes }) => writes.includes(field)).map(({ name }) => name);

test("every field has one writer, and no stage writes inside another's field", () => {
  const fields = pipeline.flatMap(({ name, writes }) => writes.map((field) => ({ name, field })));
  const collisions = fields.flatMap((a) =>
    fields
      .filter(
        (b) =>
          a !== b && (b.field === a.field || b.field.startsWith(`${a.field}.`) || b.field.startsWith(`${a.field}[`)),
      )
      .map((b) => `${a.name} ${a.field} and ${b.name} ${b.field}`),
  );

  expect(collisions).toEqual([]);
});

test("every stage reads something that an earlier stage, a user or a member wrote", () => {
  const given = [
    "template",
    "PropagationPolicy",
    "OverridePolicy",
    "ClusterOverridePolicy",
    "PriorityClass",
    "Cluster",
    "WorkloadRebalancer",
    "member.status",
  ];
  for (const [place, { reads }] of pipeline.entries()) {
    const known = [...given, ...pipeline.slice(0, place).flatMap(({ name, writes }) => [name, ...writes])];

    expect(
      reads.filter(
        (read) =>
          !known.some((field) => field === read || field.startsWith(`${read}.`) || read.startsWith(`${field}.`)),
      ),
    ).toEqual([]);
  }
});

/** Records which parts of the hub changed which fields below spec and status, from the server's responses. */
function recordWriters(): {
  wrap(transport: Transport, part: string): Transport;
  of(kind: string, namespace: string, name: string): Record<string, string[]>;
} {
  const written: { part: string; object: DeepReadonly<KubernetesObject> & JsonObject }[] = [];
  return {
    wrap: (transport, part) => ({
      ...transport,
      async send(request, signal) {
        const object = await transport.send(request, signal);
        if (request.path.cluster === "hub" && ["create", "update", "patch", "apply"].includes(request.verb))
          written.push({ part, object: object as DeepReadonly<KubernetesObject> & JsonObject });
        return object;
      },
    }),
    of(kind, namespace, name) {
      const versions = written
        .filter(
          ({ object }) =>
            object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name,
        )
        .sort((a, b) => Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion));
      const writers: Record<string, Set<string>> = {};
      let before: JsonObject = {};
      for (const { part, object } of versions) {
        for (const half of ["spec", "status"]) {
          const [was, is] = [before[half] ?? {}, object[half] ?? {}] as [JsonObject, JsonObject];
          for (const field of new Set([...Object.keys(was), ...Object.keys(is)]))
            if (!equalJson(was[field], is[field])) (writers[`${half}.${field}`] ??= new Set()).add(part);
        }
        before = object;
      }
      return Object.fromEntries(Object.entries(writers).map(([field, parts]) => [field, [...parts]]));
    },
  };
}

const partsOf = (fields: Record<string, string[]>, prefix: string): [string, string[]][] =>
  Object.entries(fields).filter(([field]) => field.startsWith(prefix));

/** What a stage of the table is called in the table's fields, by what happens to a binding's eviction tasks. */
const EVICTION_WRITERS: ReadonlySet<string> = new Set(["schedule", "failover", "eviction"]);
/** Stages whose decisions are written by others: overrides change dispatch's copies, statuses have one writer each. */
const WRITE_THROUGH_OTHERS: ReadonlySet<string> = new Set(["override", "execute", "reflect", "aggregate"]);

describe("in a running fleet", () => {
  let fleet: TestFleet;
  afterEach(() => fleet.stop());

  /** One workload with a dependency is placed, moved by a taint, and rebalanced. */
  async function runEveryStage(wrap?: ReturnType<typeof recordWriters>["wrap"]): Promise<void> {
    fleet = await startTestFleet({ members: ["member1", "member2", "member3"], nodes: 1, wrap });
    const { client } = fleet;
    await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await client.create(ConfigMap, "hub", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "shop" },
    });
    await client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all")
        .selects("apps/v1", "Deployment")
        .weights({ member1: 1, member2: 1, member3: 1 })
        .with(({ spec }) => {
          spec.propagateDeps = true;
          spec.failover = { cluster: { purgeMode: "Gracefully" } };
        })
        .build(),
    );
    const web = makeDeployment("shop/web").replicas(6).build();
    web.spec.template.spec = {
      containers: [{ name: "main", image: "web:1", envFrom: [{ configMapRef: { name: "settings" } }] }],
    };
    await client.create(Deployment, "hub", web);
    await fleet.run(20_000);

    const taint = { key: "maintenance", effect: "NoExecute" as const };
    await client.patch(Cluster, { cluster: "hub", name: "member1" }, { spec: { taints: [taint] } }, { type: "merge" });
    await fleet.run(600_000);
    await client.patch(Cluster, { cluster: "hub", name: "member1" }, { spec: { taints: null } }, { type: "merge" });
    await client.create(WorkloadRebalancer, "hub", {
      apiVersion: "apps.karmada.io/v1alpha1",
      kind: "WorkloadRebalancer",
      metadata: { name: "evenly" },
      spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }] },
    });
    await fleet.run(60_000);
  }

  test("no stage writes a field that the table assigns to another", async () => {
    const writers = recordWriters();
    await runEveryStage(writers.wrap);

    const binding = writers.of("ResourceBinding", "shop", "web-deployment");
    const attached = writers.of("ResourceBinding", "shop", "settings-configmap");
    const { items } = await fleet.client.list(Work, {
      cluster: "hub",
      namespace: "karmada-es-member2",
      labelSelector: "resourcebinding.karmada.io/permanent-id",
    });
    const works = items.map(({ metadata }) => writers.of("Work", "karmada-es-member2", metadata.name));

    const tasks = "spec.gracefulEvictionTasks";
    for (const [field, parts] of partsOf(binding, "spec.").filter(([name]) => name !== tasks))
      expect(parts, field).toEqual(writersOf(`ResourceBinding.${field}`));
    for (const [field, parts] of partsOf(binding, tasks))
      expect(
        parts.filter((part) => !EVICTION_WRITERS.has(part)),
        field,
      ).toEqual([]);
    // The stage that attaches a dependency creates its binding, so there it writes what match writes elsewhere.
    expect(new Set(Object.values(attached).flat())).toEqual(new Set(["dependencies", "status"]));
    expect(new Set(Object.values(binding).flat())).toEqual(
      new Set(["match", "schedule", "failover", "eviction", "rebalance", "status"]),
    );
    // The stages that own parts of a status pass them to one writer, which the server sees.
    for (const [field, parts] of [binding, ...works].flatMap((fields) => partsOf(fields, "status.")))
      expect(parts, field).toEqual(["status"]);
    for (const work of works) expect(work["spec.workload"]).toEqual(["dispatch"]);
    expect(works.length).toBeGreaterThan(1);
    expect(new Set(partsOf(writers.of("Deployment", "shop", "web"), "status.").flatMap(([, parts]) => parts))).toEqual(
      new Set(["aggregate"]),
    );
  });

  test("every writing stage writes, and only the kinds that the table names", async () => {
    await runEveryStage();

    const plurals: Record<string, string> = {
      ResourceBinding: "resourcebindings.work.karmada.io",
      attached: "resourcebindings.work.karmada.io",
      WorkloadRebalancer: "workloadrebalancers.apps.karmada.io",
      PropagationPolicy: "propagationpolicies.policy.karmada.io",
      Work: "works.work.karmada.io",
      template: "deployments.apps",
    };
    const silent: string[] = [];
    for (const { name, writes } of pipeline) {
      const named = new Set(writes.map((field) => plurals[field.split(".")[0] ?? ""]));
      const written = new Set(
        fleet
          .writes()
          .filter(({ part, cluster }) => part === name && cluster === "hub")
          .map(({ resource }) => resource),
      );
      if (written.size === 0) silent.push(name);

      expect(
        [...written].filter((resource) => !named.has(resource)),
        name,
      ).toEqual([]);
    }
    expect(silent.filter((name) => !WRITE_THROUGH_OTHERS.has(name))).toEqual([]);
  });
});
