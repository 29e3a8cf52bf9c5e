import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { createFakeClock, createLog, createSeededRandom, MetricsText, silentLog, systemClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createInterpreter } from "../interpreter.ts";
import { createLevel } from "@flotilla/kubernetes";
import type { ChangedKind, Level } from "@flotilla/kubernetes";
import { createWebhookLevel } from "./level.ts";
import type { WebhookLevel, WebhookLevelOptions } from "./level.ts";
import { answering, makeConfiguration, serveWebhook } from "./test-webhook.ts";
import type { Behaviour, TestWebhook } from "./test-webhook.ts";

let authority: CertificateAuthority;
let serving: { certificate: string; key: string };
let caBundle: string;
beforeAll(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing([]);
  caBundle = Buffer.from(authority.certificate).toString("base64");
});

async function serve(behave: Behaviour): Promise<TestWebhook> {
  const webhook = await serveWebhook(serving, behave);
  onTestFinished(() => webhook.stop());
  return webhook;
}

function openLevel(options: Partial<WebhookLevelOptions> = {}): WebhookLevel {
  const level = createWebhookLevel({
    clock: createFakeClock(),
    log: silentLog,
    random: createSeededRandom(1),
    ...options,
  });
  onTestFinished(() => level.close());
  return level;
}

/** A URL that is never called. */
const NOWHERE = { url: "https://127.0.0.1:1/" };
const workload = {
  apiVersion: "workload.example.io/v1alpha1",
  kind: "Workload",
  metadata: { name: "web", namespace: "shop" },
  spec: { replicas: 3 },
};
const patch = (...operations: JsonObject[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

test("an interpreter calls a webhook for every operation and uses its response", async () => {
  const answers: Record<string, JsonObject> = {
    InterpretReplica: { replicas: 3 },
    InterpretComponent: { components: [{ name: "main", replicas: 3 }] },
    ReviseReplica: patch({ op: "replace", path: "/spec/replicas", value: 1 }),
    Retain: patch({ op: "add", path: "/spec/paused", value: true }),
    AggregateStatus: patch({ op: "add", path: "/status", value: { readyReplicas: 2 } }),
    InterpretStatus: { rawStatus: { readyReplicas: 1 } },
    InterpretHealth: { healthy: false },
    InterpretDependency: {
      dependencies: [{ apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" }],
    },
  };
  const webhook = await serve(answering(({ operation }) => answers[operation as string] ?? {}));
  const level = openLevel();
  level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } }));
  const interpreter = createInterpreter([level]);

  const results = {
    replicas: await interpreter.replicas(workload),
    components: await interpreter.components(workload),
    revised: await interpreter.reviseReplicas(workload, 1),
    retained: await interpreter.retain(workload, { ...workload, metadata: { ...workload.metadata, uid: "observed" } }),
    aggregated: await interpreter.aggregateStatus(workload, [{ clusterName: "paris", status: { readyReplicas: 2 } }]),
    status: await interpreter.reflectStatus(workload),
    health: await interpreter.health(workload),
    dependencies: await interpreter.dependencies(workload),
    level: interpreter.levelOf("isHealthy", workload),
  };

  expect(results).toEqual({
    replicas: { replicas: 3 },
    components: [{ name: "main", replicas: 3 }],
    revised: { ...workload, spec: { replicas: 1 } },
    retained: { ...workload, spec: { replicas: 3, paused: true } },
    aggregated: { ...workload, status: { readyReplicas: 2 } },
    status: { readyReplicas: 1 },
    health: "Unhealthy",
    dependencies: [{ apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" }],
    level: "webhook",
  });
  expect(
    webhook.asked.map(({ method, path, request }) => [method, path, request["operation"], request["replicas"]]),
  ).toEqual([
    ["POST", "/interpret?timeout=10s", "InterpretReplica", 0],
    ["POST", "/interpret?timeout=10s", "InterpretComponent", 0],
    ["POST", "/interpret?timeout=10s", "ReviseReplica", 1],
    ["POST", "/interpret?timeout=10s", "Retain", 0],
    ["POST", "/interpret?timeout=10s", "AggregateStatus", 0],
    ["POST", "/interpret?timeout=10s", "InterpretStatus", 0],
    ["POST", "/interpret?timeout=10s", "InterpretHealth", 0],
    ["POST", "/interpret?timeout=10s", "InterpretDependency", 0],
  ]);
  expect(webhook.connections()).toBe(1);
});

test("a division calls once for each number of replicas, and not for each member", async () => {
  const webhook = await serve(
    answering(({ replicas = 0 }) => patch({ op: "replace", path: "/spec/replicas", value: replicas })),
  );
  const level = openLevel();
  level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } }));
  const shares = Array.from({ length: 100 }, (_, index) => ({ cluster: `member${index}`, replicas: index % 2 }));

  const divided = await createInterpreter([level]).divide(workload, shares);
  const again = await createInterpreter([level]).divide(workload, shares.slice(0, 1));

  expect(divided.get("member7")).toEqual({ ...workload, spec: { replicas: 1 } });
  expect(divided.get("member8")).toEqual({ ...workload, spec: { replicas: 0 } });
  expect(again.get("member0")).toEqual({ ...workload, spec: { replicas: 0 } });
  expect(webhook.asked.map(({ request }) => request["replicas"])).toEqual([0, 1, 0]);
});

describe("webhook selection", () => {
  type Rule = NonNullable<ResourceInterpreterWebhookConfiguration["webhooks"][number]["rules"]>[number];
  const anything: Rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], kinds: ["*"] };
  const ALL = [
    "aggregateStatus",
    "components",
    "dependencies",
    "isHealthy",
    "reflectStatus",
    "replicas",
    "retain",
    "reviseReplicas",
  ];
  const cases: Record<string, { rule: Rule; apiVersion: string; kind: string; want: string[] }> = {
    "a star matches every group, version, kind and operation": {
      rule: anything,
      apiVersion: "apps/v1",
      kind: "Deployment",
      want: ALL,
    },
    "an empty group matches the core group": {
      rule: { ...anything, apiGroups: [""] },
      apiVersion: "v1",
      kind: "Pod",
      want: ALL,
    },
    "an empty group matches no other group": {
      rule: { ...anything, apiGroups: [""] },
      apiVersion: "apps/v1",
      kind: "Deployment",
      want: [],
    },
    "another version does not match": {
      rule: { ...anything, apiVersions: ["v1alpha1"] },
      apiVersion: "workload.example.io/v1beta1",
      kind: "Workload",
      want: [],
    },
    "one of several values is enough": {
      rule: {
        operations: ["Retain", "InterpretHealth"],
        apiGroups: ["apps", "batch"],
        apiVersions: ["v1", "v2"],
        kinds: ["Job", "Deployment"],
      },
      apiVersion: "batch/v1",
      kind: "Job",
      want: ["isHealthy", "retain"],
    },
    "skips an unknown operation": {
      rule: { ...anything, operations: ["Prune"] },
      apiVersion: "apps/v1",
      kind: "Deployment",
      want: [],
    },
    "names are not patterns": {
      rule: { ...anything, kinds: ["Deploy*"] },
      apiVersion: "apps/v1",
      kind: "Deployment",
      want: [],
    },
  };
  for (const [behaviour, { rule, apiVersion, kind, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const level = openLevel();
      level.set(makeConfiguration("examples", { clientConfig: NOWHERE, rules: [rule] }));

      const rules = level.rulesFor(apiVersion, kind);

      expect(Object.keys(rules ?? {}).sort()).toEqual(want);
    });
  }

  test("for each operation the first webhook by configuration and name with a matching rule is called", async () => {
    const webhook = await serve(answering({ healthy: true, replicas: 1 }));
    const level = openLevel();
    const at = (path: string): { url: string; caBundle: string } => ({
      url: `https://127.0.0.1:${webhook.port}/${path}`,
      caBundle,
    });
    const forHealth = [{ ...anything, operations: ["InterpretHealth"] }];
    level.set(makeConfiguration("b", { clientConfig: at("b"), rules: [anything] }));
    const a = makeConfiguration("a", { name: "z.example.com", clientConfig: at("a-z"), rules: forHealth });
    const [first] = makeConfiguration("a", {
      name: "y.example.com",
      clientConfig: at("a-y"),
      rules: forHealth,
    }).webhooks;
    level.set({ ...a, webhooks: [...a.webhooks, ...(first ? [first] : [])] });

    const rules = level.rulesFor("apps/v1", "Deployment");
    await rules?.isHealthy?.(workload);
    await rules?.replicas?.(workload);

    expect(webhook.asked.map(({ path }) => path.split("?")[0])).toEqual(["/a-y", "/b"]);
  });
});

describe("a change of the configurations", () => {
  const reported = (level: Level): ChangedKind[] => {
    const changes: ChangedKind[] = [];
    level.onChange?.((changed) => changes.push(changed));
    return changes;
  };

  test("takes effect at once and notifies listeners of the requested kinds", () => {
    const level = openLevel();
    const changes = reported(level);
    const before = level.rulesFor("workload.example.io/v1alpha1", "Workload");
    level.rulesFor("apps/v1", "Deployment");

    level.set(makeConfiguration("examples", { clientConfig: NOWHERE }));
    const after = level.rulesFor("workload.example.io/v1alpha1", "Workload");
    level.remove("examples");
    const afterwards = level.rulesFor("workload.example.io/v1alpha1", "Workload");

    expect([before, afterwards]).toEqual([undefined, undefined]);
    expect(after).toBeDefined();
    expect(changes).toEqual([
      { group: "workload.example.io", kind: "Workload" },
      { group: "workload.example.io", kind: "Workload" },
    ]);
  });

  test("notifies listeners of every kind that a star covers", () => {
    const level = openLevel();
    const changes = reported(level);
    level.rulesFor("v1", "Pod");
    level.rulesFor("apps/v1", "Deployment");

    level.set(
      makeConfiguration("examples", {
        clientConfig: NOWHERE,
        rules: [{ operations: ["InterpretHealth"], apiGroups: ["*"], apiVersions: ["*"], kinds: ["*"] }],
      }),
    );

    expect(changes).toEqual([
      { group: "", kind: "Pod" },
      { group: "apps", kind: "Deployment" },
    ]);
  });

  test("is reported for the kinds that were requested last, however many there were", () => {
    const level = openLevel();
    const changes = reported(level);
    level.rulesFor("example.io/v1", "First");
    level.rulesFor("example.io/v1", "Kept");
    for (let index = 1; index < 8192; index++) {
      level.rulesFor(`group-${index}.io/v1`, "Gone");
      level.rulesFor("example.io/v1", "Kept");
    }

    level.set(
      makeConfiguration("examples", {
        clientConfig: NOWHERE,
        rules: [{ operations: ["*"], apiGroups: ["example.io"], apiVersions: ["v1"], kinds: ["*"] }],
      }),
    );

    expect(changes).toEqual([{ group: "example.io", kind: "Kept" }]);
  });

  test("that leaves the webhooks unchanged is not reported, and keeps their connections", async () => {
    const webhook = await serve(answering({ healthy: true }));
    const level = openLevel();
    const configuration = makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } });
    level.set(configuration);
    await level.rulesFor(workload.apiVersion, workload.kind)?.isHealthy?.(workload);
    const changes = reported(level);

    level.set({ ...configuration, metadata: { name: "examples", resourceVersion: "2" } });
    await level.rulesFor(workload.apiVersion, workload.kind)?.isHealthy?.(workload);

    expect(changes).toEqual([]);
    expect(webhook.connections()).toBe(1);
  });

  test("lets calls in flight finish", async () => {
    let release = (): void => {};
    const arrived = Promise.withResolvers<void>();
    const webhook = await serve((asked, response) => {
      release = () => answering({ healthy: true })(asked, response);
      arrived.resolve();
    });
    const level = openLevel();
    level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } }));
    const answer = level.rulesFor(workload.apiVersion, workload.kind)?.isHealthy?.(workload);
    await arrived.promise;

    level.remove("examples");
    release();

    await expect(answer).resolves.toBe(true);
  });
});

describe("a failing webhook", () => {
  const refusing: Behaviour = ({ request }, response) =>
    void response.end(
      JSON.stringify({
        response: { uid: request["uid"], successful: false, status: { code: 500, message: "not today" } },
      }),
    );
  const lower = [
    createLevel("thirdparty", [{ group: "workload.example.io", kind: "Workload", isHealthy: () => false }]),
  ];

  test("fails the call, and the error names the webhook, operation and object", async () => {
    const webhook = await serve(refusing);
    const level = openLevel({ lower });
    level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } }));

    const answer = createInterpreter([level, ...lower]).health(workload);

    await expect(answer).rejects.toThrow(
      'calling webhook examples/workloads.example.com for InterpretHealth of Workload shop/web: the webhook reported a failure (code 500): "not today"',
    );
  });

  test("is ignored with failure policy Ignore if a lower level knows the kind", async () => {
    const webhook = await serve(refusing);
    const lines: string[] = [];
    const log = createLog({
      level: "info",
      clock: createFakeClock(),
      write: (line) => lines.push((JSON.parse(line) as { message: string }).message),
    });
    const level = openLevel({ lower, log });
    level.set(
      makeConfiguration(
        "examples",
        { clientConfig: { url: webhook.url, caBundle } },
        { "flotilla.dev/failure-policy": "Ignore" },
      ),
    );
    const interpreter = createInterpreter([level, ...lower]);

    const answers = [await interpreter.health(workload), await interpreter.health(workload)];

    expect(answers).toEqual(["Unhealthy", "Unhealthy"]);
    expect(lines).toEqual(["interpreter webhook failed, using a lower level"]);
  });

  test("is not ignored if no lower level knows the kind", async () => {
    const webhook = await serve(refusing);
    const level = openLevel({ lower });
    level.set(
      makeConfiguration(
        "examples",
        { clientConfig: { url: webhook.url, caBundle } },
        { "flotilla.dev/failure-policy": "Ignore" },
      ),
    );

    const answer = createInterpreter([level, ...lower]).reviseReplicas(workload, 1);

    await expect(answer).rejects.toThrow('"not today"');
  });

  test("a failing webhook with an invalid failure policy logs a warning and fails", async () => {
    const webhook = await serve(refusing);
    const lines: string[] = [];
    const log = createLog({ level: "info", clock: createFakeClock(), write: (line) => lines.push(line) });
    const level = openLevel({ lower, log });

    level.set(
      makeConfiguration(
        "examples",
        { clientConfig: { url: webhook.url, caBundle } },
        { "flotilla.dev/failure-policy": "ignore" },
      ),
    );

    await expect(createInterpreter([level, ...lower]).health(workload)).rejects.toThrow('"not today"');
    expect(lines.join("")).toContain("invalid failure policy of interpreter webhooks, using Fail");
  });
});

test("counts durations and failures by webhook and operation, and drops them with its settings", async () => {
  const webhook = await serve(
    ({ request }, response) =>
      void response.end(JSON.stringify({ response: { uid: request["uid"], successful: true, replicas: 2 } })),
  );
  const level = openLevel();
  level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle } }));
  const rules = level.rulesFor(workload.apiVersion, workload.kind);
  await rules?.replicas?.(workload);
  await expect(rules?.isHealthy?.(workload)).rejects.toThrow("response.healthy is not true or false");
  const written = (): string => {
    const text = new MetricsText();
    level.writeMetrics(text);
    return text.finish();
  };

  const counted = written();
  level.set(makeConfiguration("examples", { clientConfig: { url: webhook.url, caBundle }, timeoutSeconds: 3 }));
  const corrected = written();
  level.remove("examples");
  const forgotten = written();

  expect(counted).toContain(
    'flotilla_interpreter_webhook_duration_seconds_count{webhook="examples/workloads.example.com",operation="InterpretReplica"} 1\n',
  );
  expect(counted).toContain(
    'flotilla_interpreter_webhook_failures_total{webhook="examples/workloads.example.com",operation="InterpretReplica",reason="answer"} 0\n',
  );
  expect(counted).toContain(
    'flotilla_interpreter_webhook_failures_total{webhook="examples/workloads.example.com",operation="InterpretHealth",reason="answer"} 1\n',
  );
  expect(corrected).not.toContain("InterpretHealth");
  expect(forgotten).not.toContain("examples");
});
