import { afterEach, describe, expect, test } from "vitest";
import { Deployment, Namespace, PropagationPolicy, ResourceBinding, Work } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { startTestFleet } from "../testing/fleet/index.ts";
import type { TestFleet } from "../testing/fleet/index.ts";
import { makeDeployment, makePolicy } from "../testing/index.ts";
import { pipeline } from "./pipeline.ts";

const writersOf = (field: string): string[] => pipeline.filter(({ writes }) => writes.includes(field)).map(({ name }) => name);

test("every field has one writer, and nobody writes inside another's field", () => {
  const fields = pipeline.flatMap(({ name, writes }) => writes.map((field) => ({ name, field })));
  const collisions = fields.flatMap((a) => fields.filter((b) => a !== b && (b.field === a.field || b.field.startsWith(`${a.field}.`) || b.field.startsWith(`${a.field}[`))).map((b) => `${a.name} ${a.field} and ${b.name} ${b.field}`));

  expect(collisions).toEqual([]);
});

test("every stage reads something that a stage before it, a user or a member wrote", () => {
  const given = ["template", "PropagationPolicy", "OverridePolicy", "ClusterOverridePolicy", "PriorityClass", "Cluster", "WorkloadRebalancer", "member.status"];
  for (const [place, { reads }] of pipeline.entries()) {
    const known = [...given, ...pipeline.slice(0, place).flatMap(({ name, writes }) => [name, ...writes])];

    expect(reads.filter((read) => !known.some((field) => field === read || field.startsWith(`${read}.`) || read.startsWith(`${field}.`)))).toEqual([]);
  }
});

describe("in a running fleet", () => {
  let fleet: TestFleet;
  afterEach(() => fleet.stop());

  /** Top-level parts below spec and status, by the manager that owns them. */
  const owned = ({ metadata }: DeepReadonly<KubernetesObject>, part: "spec" | "status"): Record<string, string[]> =>
    Object.fromEntries(
      (metadata.managedFields ?? []).flatMap(({ manager = "", fieldsV1 }) => {
        const fields = (fieldsV1 as Record<string, Record<string, unknown>> | undefined)?.[`f:${part}`];
        return fields ? [[manager, Object.keys(fields).filter((field) => field !== ".").map((field) => `${part}.${field.slice(2)}`)]] : [];
      }),
    );

  test("nobody writes a field that the table gives to somebody else", async () => {
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(20_000);

    const binding = await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" });
    const [work] = (await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1", labelSelector: "resourcebinding.karmada.io/permanent-id" })).items;
    const template = await fleet.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" });

    expect(Object.keys(owned(binding, "spec"))).toEqual(["flotilla-match", "flotilla-schedule"]);
    for (const [manager, fields] of Object.entries(owned(binding, "spec"))) {
      for (const field of fields) expect(writersOf(`ResourceBinding.${field}`)).toEqual([manager.replace("flotilla-", "")]);
    }
    expect(work && Object.keys(owned(work, "spec"))).toEqual(["flotilla-dispatch"]);
    // The stages that own parts of a status hand them to one writer, which is what the server sees.
    expect(work && Object.keys(owned(work, "status"))).toEqual(["flotilla-status"]);
    expect(Object.keys(owned(binding, "status"))).toEqual(["flotilla-status"]);
    expect(Object.keys(owned(template, "status"))).toEqual(["flotilla-aggregate"]);
  });

  test("a stage writes only the kinds that the table names", async () => {
    fleet = await startTestFleet({ members: ["member1", "member2"], nodes: 1 });
    await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build());
    await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(4).build());
    await fleet.run(20_000);

    const plurals: Record<string, string> = { ResourceBinding: "resourcebindings.work.karmada.io", attached: "resourcebindings.work.karmada.io", WorkloadRebalancer: "workloadrebalancers.apps.karmada.io", Work: "works.work.karmada.io", template: "deployments.apps" };
    for (const { name, writes } of pipeline) {
      const named = new Set(writes.map((field) => plurals[field.split(".")[0] ?? ""]));
      const written = new Set(fleet.writes().filter(({ part, cluster }) => part === name && cluster === "hub").map(({ resource }) => resource));

      expect([...written].filter((resource) => !named.has(resource)), name).toEqual([]);
    }
  });
});
