import { afterEach, expect, test } from "vitest";
import { Pod } from "./pod-kind.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import type { Random } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createReplicaSetController } from "../replicaset/replicaset-controller.ts";

const stops: TestMember[] = [];
afterEach(async () => {
  for (const member of stops.splice(0)) await member.stop();
});

/** Every draw is the same. */
const unlucky: Random = { next: () => 0, bytes: (length) => new Uint8Array(length) };

test("pods with a random name collision get another name from the server, and no failure event is emitted", async () => {
  const member = await startTestMember({
    nodes: 0,
    controllers(deps) {
      indexByController(deps.informers);
      return [createReplicaSetController({ ...deps, random: unlucky })];
    },
  });
  stops.push(member);
  const labels = { app: "web" };
  const spec = {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  };

  await member.client.create(ReplicaSet, MEMBER, {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: NAMESPACE },
    spec,
  });
  await member.pass(1_000);

  expect(member.pods().map(({ metadata }) => metadata.generateName)).toEqual(["web-", "web-", "web-"]);
  expect(member.events.filter((event) => event.includes("Warning"))).toEqual([]);
  expect(member.writes.total({ resource: "pods", verb: "create" })).toBe(5);
  expect((await member.list(Pod)).length).toBe(3);
});
