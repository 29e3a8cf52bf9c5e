/** Priority and fairness on a server: headers, rejections, conditions, mandatory objects. */
import { flowControlDefaults, FlowSchema, PriorityLevelConfiguration } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { createTestServer, PROFILE } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1";

const start = (user?: { name: string; groups: string[] }): Promise<TestServer> =>
  createTestServer({
    user,
    profiles: {
      hub: {
        ...PROFILE,
        builtIns: [...PROFILE.builtIns, FlowSchema, PriorityLevelConfiguration],
        objects: [...PROFILE.objects, ...flowControlDefaults("2024-01-01T00:00:00Z")],
      },
    },
  });

const conditionOf = (object: JsonObject): unknown =>
  (object.status as { conditions?: { type: string; status: string; reason: string }[] } | undefined)?.conditions?.map(
    ({ type, status, reason }) => `${type} ${status} ${reason}`,
  );

const makeSchema = (level: string): JsonObject => ({
  metadata: { name: "mine" },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: 2,
    rules: [
      {
        subjects: [{ kind: "Group", group: { name: "system:masters" } }],
        resourceRules: [
          { verbs: ["*"], apiGroups: ["*"], resources: ["configmaps"], namespaces: ["*"], clusterScope: true },
        ],
      },
    ],
  },
});
const makeLevel = (): JsonObject => ({
  metadata: { name: "mine" },
  spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
});

test("responses name the FlowSchema and the priority level", async () => {
  const { request } = await start({ name: "alice", groups: ["system:authenticated"] });
  const admin = await start();
  const schema = await admin.request("GET", `${GROUP}/flowschemas/exempt`);

  const rejected = await request("GET", "/api/v1/namespaces/default/configmaps");
  expect(schema.headers["x-kubernetes-pf-flowschema-uid"]).toBe((schema.body.metadata as { uid: string }).uid);
  // Authorization comes after it.
  expect(rejected.status).toBe(403);
  expect(rejected.headers["x-kubernetes-pf-flowschema-uid"]).toMatch(/./);
});

test("a FlowSchema has a condition that states whether its level exists", async () => {
  const { request, settle } = await start();
  await request("POST", `${GROUP}/flowschemas`, makeSchema("mine"));
  await settle();
  const before = await request("GET", `${GROUP}/flowschemas/mine`);

  await request("POST", `${GROUP}/prioritylevelconfigurations`, makeLevel());
  await settle();
  const after = await request("GET", `${GROUP}/flowschemas/mine`);

  expect(conditionOf(before.body)).toEqual(["Dangling True NotFound"]);
  expect(conditionOf(after.body)).toEqual(["Dangling False Found"]);
});

test("a mandatory object that is deleted comes back, and its spec cannot change", async () => {
  const { request, settle } = await start();

  const removed = await request("DELETE", `${GROUP}/flowschemas/catch-all`);
  await settle();
  const back = await request("GET", `${GROUP}/flowschemas/catch-all`);
  const changed = await request(
    "PATCH",
    `${GROUP}/flowschemas/catch-all`,
    { spec: { matchingPrecedence: 5 } },
    { "content-type": "application/merge-patch+json" },
  );

  expect([removed.status, back.status, changed.status]).toEqual([200, 200, 422]);
  expect(changed.body.message).toContain("spec of 'catch-all' must equal the fixed value");
});

test("the defaults are valid, and their conditions are written", async () => {
  const { request } = await start();
  const { body } = await request("GET", `${GROUP}/flowschemas`);

  const items = body.items as { metadata: { name: string } }[];
  expect(items.map(({ metadata }) => metadata.name)).toContain("system-leader-election");
  expect(items).toHaveLength(11);
});

test("the dumps show levels, queues and the requests that run", async () => {
  const { request } = await start();
  const dump = async (name: string): Promise<string[]> => {
    const { text } = await request("GET", `/debug/api_priority_and_fairness/dump_${name}`);
    return text.trimEnd().split("\n");
  };

  const levels = await dump("priority_levels");
  const requests = await dump("requests?includeRequestDetails=1");
  const absent = await request("GET", "/debug/api_priority_and_fairness/dump_nothing");

  expect(levels.map((line) => line.split(",", 1)[0])).toEqual([
    "PriorityLevelName",
    "catch-all",
    "exempt",
    "global-default",
    "leader-election",
    "node-high",
    "system",
    "workload-high",
    "workload-low",
  ]);
  // The dump itself is a request.
  expect(levels[2]).toMatch(/^exempt, +0, +false, +false, +0, +1, +1, +0, +0, +0$/);
  expect(await dump("queues")).toHaveLength(1);
  expect(requests[1]).toMatch(/^exempt, +exempt, +-1, +-1, .*admin, +get, +\/debug\/api_priority_and_fairness/);
  expect(absent.status).toBe(404);
});
