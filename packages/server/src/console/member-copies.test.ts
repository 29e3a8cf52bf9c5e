/** Copies that are watched for the rows of a fleet, above and below the limit, on members that come and go. */
import { beforeEach, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { createMemberCopies } from "./member-copies.ts";
import type { MemberCopies } from "./member-copies.ts";
import { MAX_WATCHES } from "./plan-copy-watches.ts";
import { createTestHub, watchEvent, watchEvents } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };
const REF = { ...DEPLOYMENT, namespace: "shop", name: "web" };
const ID = "apps/v1/Deployment/shop/web";

let clock: FakeClock;
let hub: TestHub;
let copies: MemberCopies;
let changed: string[];
function create(namespaces?: readonly string[]): MemberCopies {
  return createMemberCopies({
    client: hub.client,
    clock,
    log: silentLog,
    namespaces,
    onChange: (id) => changed.push(id),
  });
}
beforeEach(() => {
  clock = createFakeClock();
  hub = createTestHub();
  changed = [];
  copies = create();
  return () => copies.close();
});

const pathOf = (member: string, resource = "deployments"): string =>
  `/apis/cluster.karmada.io/v1alpha1/clusters/${member}/proxy/apis/apps/v1/${resource}`;
async function setMembers(...names: string[]): Promise<void> {
  for (const name of names) for (const resource of ["deployments", "daemonsets"]) hub.stream(pathOf(name, resource));
  copies.setMembers(names.map((name) => ({ name })));
  await hub.settle();
}
const web = (replicas: number) => ({
  metadata: { name: "web", namespace: "shop" },
  spec: { replicas, template: {} },
  status: { readyReplicas: replicas, conditions: [] },
});
const open = (): number =>
  hub.requests.filter(({ pathname }) => hub.streamsOf(pathname).some(({ isOpen }) => isOpen)).length;

test("a copy has the numbers that its member has now", async () => {
  copies.want(DEPLOYMENT);
  await setMembers("oslo");
  hub.streamOf(pathOf("oslo")).write(watchEvents(web(2)).join(""));
  await hub.settle();
  expect(copies.find("oslo", REF)).toEqual({ spec: { replicas: 2 }, status: { readyReplicas: 2 } });

  changed = [];
  hub.streamOf(pathOf("oslo")).write(watchEvent("MODIFIED", web(3)));
  await hub.settle();

  expect(copies.find("oslo", REF)).toEqual({ spec: { replicas: 3 }, status: { readyReplicas: 3 } });
  expect(changed).toEqual([ID]);
  expect(copies.isLive()).toBe(true);
});

test("a copy on a member whose connection is lost is not known, and its row is made again", async () => {
  copies.want(DEPLOYMENT);
  await setMembers("oslo");
  hub.streamOf(pathOf("oslo")).write(watchEvents(web(2)).join(""));
  await hub.settle();
  changed = [];

  hub.streamOf(pathOf("oslo")).end(new Error("connection lost"));
  await hub.settle();
  expect([copies.find("oslo", REF), changed]).toEqual([undefined, [ID]]);

  clock.advance(30_000);
  await hub.settle();
  expect(copies.find("oslo", REF)).toEqual({ spec: { replicas: 2 }, status: { readyReplicas: 2 } });
});

test("above the limit the first 200 are watched", async () => {
  const names = Array.from({ length: MAX_WATCHES + 50 }, (_, index) => `m${index}`);
  copies.want(DEPLOYMENT);
  await hub.settle();

  await setMembers(...names);

  expect(open()).toBe(MAX_WATCHES);
  expect(copies.isLive()).toBe(false);
});

test("a kind is watched until its last workload is gone", async () => {
  copies.want(DEPLOYMENT);
  copies.want(DEPLOYMENT);
  await setMembers("oslo");
  const stream = hub.streamOf(pathOf("oslo"));
  stream.write(watchEvents(web(2)).join(""));
  await hub.settle();

  copies.release(DEPLOYMENT);
  await hub.settle();
  expect(stream.isOpen).toBe(true);
  changed = [];
  copies.release(DEPLOYMENT);
  await hub.settle();

  expect([stream.isOpen, copies.find("oslo", REF), changed, copies.isLive()]).toEqual([false, undefined, [ID], false]);
});

test("a viewer with rights in some namespaces watches those", async () => {
  copies = create(["shop"]);
  const path = pathOf("oslo").replace("/deployments", "/namespaces/shop/deployments");
  hub.stream(path);
  copies.want(DEPLOYMENT);
  await setMembers("oslo");

  hub.streamOf(path).write(watchEvents(web(2)).join(""));
  await hub.settle();

  expect(copies.find("oslo", REF)?.spec).toEqual({ replicas: 2 });
  expect(hub.streamsOf(pathOf("oslo"))).toEqual([]);
});

test("a kind that the hub does not serve yet is asked for again", async () => {
  hub.answer("/apis/apps/v1", { resources: [] });
  copies.want(DEPLOYMENT);
  await setMembers("oslo");
  expect(hub.streamsOf(pathOf("oslo"))).toEqual([]);

  hub.answer("/apis/apps/v1", { resources: [{ name: "deployments", kind: "Deployment", namespaced: true }] });
  clock.advance(2_000);
  await hub.settle();

  expect(hub.streamOf(pathOf("oslo")).isOpen).toBe(true);
});

test("kinds without pods are not watched", async () => {
  copies.want({ apiVersion: "v1", kind: "ConfigMap" });
  await setMembers("oslo");

  expect(hub.requests).toEqual([]);
});

test("closed copies leave no requests and timers", async () => {
  copies.want(DEPLOYMENT);
  copies.want({ apiVersion: "apps/v1", kind: "DaemonSet" });
  await setMembers("oslo");

  copies.close();
  await hub.settle();

  expect([open(), clock.nextDue()]).toEqual([0, undefined]);
});
