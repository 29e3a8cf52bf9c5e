import { afterEach, describe, expect, test } from "vitest";
import { Deployment, Namespace, PropagationPolicy, Work } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import { equalJson } from "../base/index.ts";
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { Transport } from "../client/index.ts";
import { startTestFleet } from "../testing/fleet/index.ts";
import type { TestFleet } from "../testing/fleet/index.ts";
import { makeDeployment, makePolicy } from "../testing/index.ts";
import { pipeline } from "./pipeline.ts";

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

describe("in a running fleet", () => {
  let fleet: TestFleet;
  afterEach(() => fleet.stop());

  test("no stage writes a field that the table assigns to another", async () => {
    const writers = recordWriters();
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1, wrap: writers.wrap });
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
    );
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(20_000);

    const binding = writers.of("ResourceBinding", "shop", "web-deployment");
    const [workName = ""] = (
      await fleet.client.list(Work, {
        cluster: "hub",
        namespace: "karmada-es-member1",
        labelSelector: "resourcebinding.karmada.io/permanent-id",
      })
    ).items.map(({ metadata }) => metadata.name);
    const work = writers.of("Work", "karmada-es-member1", workName);

    for (const [field, parts] of partsOf(binding, "spec."))
      expect(parts, field).toEqual(writersOf(`ResourceBinding.${field}`));
    expect(new Set(Object.values(binding).flat())).toEqual(new Set(["match", "schedule", "status"]));
    // The stages that own parts of a status pass them to one writer, which the server sees.
    for (const [field, parts] of [...partsOf(binding, "status."), ...partsOf(work, "status.")])
      expect(parts, field).toEqual(["status"]);
    expect(work["spec.workload"]).toEqual(["dispatch"]);
    expect(new Set(partsOf(writers.of("Deployment", "shop", "web"), "status.").flatMap(([, parts]) => parts))).toEqual(
      new Set(["aggregate"]),
    );
  });

  test("a stage writes only the kinds that the table names", async () => {
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(
      PropagationPolicy,
      "hub",
      makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
    );
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(20_000);

    const plurals: Record<string, string> = {
      ResourceBinding: "resourcebindings.work.karmada.io",
      attached: "resourcebindings.work.karmada.io",
      WorkloadRebalancer: "workloadrebalancers.apps.karmada.io",
      Work: "works.work.karmada.io",
      template: "deployments.apps",
    };
    for (const { name, writes } of pipeline) {
      const named = new Set(writes.map((field) => plurals[field.split(".")[0] ?? ""]));
      const written = new Set(
        fleet
          .writes()
          .filter(({ part, cluster }) => part === name && cluster === "hub")
          .map(({ resource }) => resource),
      );

      expect(
        [...written].filter((resource) => !named.has(resource)),
        name,
      ).toEqual([]);
    }
  });
});
