/** A policy that names a version which the hub does not serve has no effect on the policies that name a served one. */
import { afterEach, expect, test } from "vitest";
import { ApiError, dynamicKind } from "@flotilla/apimachinery";
import type { Transport } from "@flotilla/client";
import { ClusterPropagationPolicy, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition, Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SETTLED_MS = 20_000;
const web = { cluster: "hub", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}

const apply = (name: string, apiVersion: string, kind = "Deployment") =>
  fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy(`shop/${name}`).selects(apiVersion, kind).duplicates("member1").build(),
  );
const createWeb = () => fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
const claim = async (name: "propagationpolicy" | "clusterpropagationpolicy" = "propagationpolicy") =>
  (await fleet.client.get(Deployment, web)).metadata.annotations?.[`${name}.karmada.io/name`];
const run = async (...argv: [name: string, ...rest: string[]]): Promise<string> =>
  (await runCommand(fleet, ...argv)).text;

test("a namespaced policy in an unserved version leaves new objects to a cluster policy in a served one", async () => {
  await start();
  const { spec } = makePolicy("shop/all").selects("apps/v1", "Deployment").duplicates("member1").build();
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "z-everything" },
    spec,
  });
  await apply("legacy", "apps/v1beta1");
  await createWeb();
  await fleet.run(SETTLED_MS);

  expect(await claim("clusterpropagationpolicy")).toBe("z-everything");
  const { status } = await fleet.client.get(PropagationPolicy, { ...web, name: "legacy" });
  expect(status).toMatchObject({ matched: 0 });
  expect(await run("why", "deployment/web", "-n", "shop")).toContain(
    "not PropagationPolicy shop/legacy (priority 0): it selects Deployment in apps/v1beta1, which the hub does not serve",
  );
});

test("when its policy is deleted, the next policy in a served version claims an object", async () => {
  await start();
  for (const [name, version] of [
    ["a", "apps/v1"],
    ["b", "apps/v1beta1"],
    ["c", "apps/v1"],
  ] as const)
    await apply(name, version);
  await createWeb();
  await fleet.run(SETTLED_MS);
  expect(await claim()).toBe("a");

  await fleet.client.delete(PropagationPolicy, { ...web, name: "a" });
  await fleet.run(SETTLED_MS);

  expect(await claim()).toBe("c");
});

test("an object that only a policy in an unserved version is left for loses its claim, and status and why name it", async () => {
  await start();
  await apply("a", "apps/v1");
  await apply("b", "apps/v1beta1");
  await createWeb();
  await fleet.run(SETTLED_MS);

  await fleet.client.delete(PropagationPolicy, { ...web, name: "a" });
  await fleet.run(SETTLED_MS);

  expect(await claim()).toBeUndefined();
  expect(await run("why", "deployment/web", "-n", "shop")).toContain("apps/v1beta1, which the hub does not serve");
  expect(await run("status", "-n", "shop")).toMatch(/no policy selects.*Deployment shop\/web/is);
});

test("a selector matches from when the hub serves its version until it no longer does", async () => {
  const definition = (...served: string[]): CustomResourceDefinition => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "lamps.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "lamps", singular: "lamp", kind: "Lamp" },
      scope: "Namespaced",
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: served.includes(name),
        storage: name === "v1",
        schema: { openAPIV3Schema: { type: "object" } },
      })),
    },
  });
  const serve = (...served: string[]) =>
    fleet.client.patch(
      CustomResourceDefinition,
      { cluster: "hub", name: "lamps.example.com" },
      { spec: definition(...served).spec } as never,
      { type: "merge" },
    );
  const Lamp = dynamicKind({ group: "example.com", version: "v1", kind: "Lamp", plural: "lamps", scope: "Namespaced" });
  const owner = async () =>
    (await fleet.client.get(Lamp, web)).metadata.annotations?.["propagationpolicy.karmada.io/name"];
  await start();
  await fleet.client.create(CustomResourceDefinition, "hub", definition("v1"));
  await apply("b-later", "example.com/v2", "Lamp");
  await fleet.client.create(Lamp, "hub", {
    apiVersion: "example.com/v1",
    kind: "Lamp",
    metadata: { namespace: "shop", name: "web" },
  });
  await fleet.run(SETTLED_MS);
  // Makes the hub watch the kind.
  await apply("a-other", "example.com/v1", "Lamp");
  await fleet.run(SETTLED_MS);
  await fleet.client.delete(PropagationPolicy, { ...web, name: "a-other" });
  await fleet.run(SETTLED_MS);
  expect(await owner()).toBeUndefined();

  await serve("v1", "v2");
  await fleet.run(SETTLED_MS);
  expect(await owner()).toBe("b-later");

  await serve("v1");
  await fleet.run(SETTLED_MS);
  expect(await owner()).toBeUndefined();
});

test("a binding that cannot be written for any reason is an event, a problem of the policy and of status, and over when it can", async () => {
  let isBroken = true;
  const wrap = (transport: Transport): Transport => ({
    ...transport,
    send(request, signal) {
      if (isBroken && request.verb === "create" && request.path.resource === ResourceBinding.plural)
        return Promise.reject(
          new ApiError({ kind: "Status", apiVersion: "v1", code: 500, message: "no disk" } as never),
        );
      return transport.send(request, signal);
    },
  });
  await start({ wrap: (transport, part) => (part === "match" ? wrap(transport) : transport) });
  await apply("all", "apps/v1");
  await createWeb();
  await fleet.run(60_000);
  const reasons = async () =>
    (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
      .filter(({ involvedObject, reason }) => involvedObject.name === "web" && reason?.startsWith("ApplyPolicy"))
      .map(({ reason, message }) => `${reason}: ${message}`);

  expect(await reasons()).toEqual(["ApplyPolicyFailed: PropagationPolicy shop/all is not applied: no disk"]);
  expect((await fleet.client.get(PropagationPolicy, { ...web, name: "all" })).status?.problems).toMatchObject([
    { name: "web", reason: "ApplyPolicyFailed", message: "no disk" },
  ]);
  expect(await run("status", "-n", "shop")).toContain("no disk");
  expect(await run("why", "deployment/web", "-n", "shop")).toContain("no disk");

  isBroken = false;
  await fleet.run(120_000);

  expect(await reasons()).toContain("ApplyPolicySucceed: PropagationPolicy shop/all is applied");
  expect((await fleet.client.get(PropagationPolicy, { ...web, name: "all" })).status?.problems ?? []).toEqual([]);
});
