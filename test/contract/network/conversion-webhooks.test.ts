/** Conversion webhooks of CustomResourceDefinitions, beyond what the recordings of the real server show. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { startWebhookServer } from "@flotilla/testing/webhook-server.ts";
import type { WebhookServer } from "@flotilla/testing/webhook-server.ts";
import { createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const path = (version: string, name = ""): string =>
  `/apis/example.com/${version}/namespaces/default/widgets${name && `/${name}`}`;

let subject: TestServer;
let hooks: WebhookServer;
/** The requests that the webhook got, in order. */
let asked: { uid: string; desiredAPIVersion: string; objects: JsonObject[] }[];
let change: (review: JsonObject) => JsonObject;
/** Before the webhook answers. */
let wait: () => Promise<void>;

beforeEach(async () => {
  asked = [];
  change = (review) => review;
  wait = () => Promise.resolve();
  hooks = await startWebhookServer(async (_path, review) => {
    const request = review.request as unknown as (typeof asked)[number];
    asked.push(request);
    await wait();
    const response = {
      uid: request.uid,
      result: { status: "Success" },
      convertedObjects: request.objects.map((object) => inVersion(object, request.desiredAPIVersion)),
    };
    return { body: JSON.stringify(change({ apiVersion: review.apiVersion ?? "", kind: review.kind ?? "", response })) };
  });
  subject = await createTestServer({});
  onTestFinished(() => hooks.close());
  await define();
});

/** `spec.host` of v1 is `spec.hostname` of v2. */
function inVersion(object: JsonObject, apiVersion: string): JsonObject {
  const spec = isObject(object.spec) ? object.spec : {};
  const { host, hostname, ...rest } = spec;
  const name = host ?? hostname;
  return {
    ...object,
    apiVersion,
    spec: name === undefined ? rest : { ...rest, [apiVersion.endsWith("v1") ? "host" : "hostname"]: name },
  };
}

function definition(storage: string, reviewVersions = ["v1"]): JsonObject {
  const schema = (field: string): JsonObject => ({
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { [field]: { type: "string" }, port: { type: "integer" }, size: { type: "integer", default: 3 } },
        },
      },
    },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [
        { name: "v1", served: true, storage: storage === "v1", schema: schema("host") },
        {
          name: "v2",
          served: true,
          storage: storage === "v2",
          schema: schema("hostname"),
          selectableFields: [{ jsonPath: ".spec.hostname" }],
        },
      ],
      conversion: {
        strategy: "Webhook",
        webhook: {
          clientConfig: { url: hooks.url, caBundle: hooks.caBundle },
          conversionReviewVersions: reviewVersions,
        },
      },
    },
  };
}

async function define(storage = "v1", reviewVersions?: string[]): Promise<void> {
  const { status, body } = await subject.request("POST", DEFINITIONS, definition(storage, reviewVersions));
  expect(body).toMatchObject({ kind: "CustomResourceDefinition" });
  expect(status).toBe(201);
}

const widget = (name: string, spec: JsonObject, version = "v1", metadata: JsonObject = {}): JsonObject => ({
  apiVersion: `example.com/${version}`,
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});

async function create(name: string, spec: JsonObject, version = "v1", metadata: JsonObject = {}): Promise<JsonObject> {
  const { status, body } = await subject.request("POST", path(version), widget(name, spec, version, metadata));
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

const specs = ({ items }: JsonObject): Json[] => (items as JsonObject[]).map(({ spec }) => spec ?? null);

test("an object is converted once for each version and write, however often it is read", async () => {
  await create("a", { host: "x" });
  await create("b", { host: "y" });

  const first = await subject.request("GET", path("v2"));
  const again = await subject.request("GET", path("v2"));
  const one = await subject.request("GET", path("v2", "a"));

  expect(specs(first.body)).toEqual([
    { hostname: "x", size: 3 },
    { hostname: "y", size: 3 },
  ]);
  expect(again.text).toBe(first.text);
  expect(one.body.spec).toEqual({ hostname: "x", size: 3 });
  expect(asked.map(({ objects }) => objects.length)).toEqual([2]);
});

test("concurrent readers wait for the same call", async () => {
  await create("a", { host: "x" });

  await Promise.all([subject.request("GET", path("v2")), subject.request("GET", path("v2", "a"))]);

  expect(asked).toHaveLength(1);
});

test("a long list is converted in batches", async () => {
  for (let index = 0; index < 501; index++) await create(`w-${index}`, { host: "x" });

  const { body } = await subject.request("GET", path("v2"));

  expect(body.items).toHaveLength(501);
  expect(asked.map(({ objects }) => objects.length).sort((a, b) => a - b)).toEqual([1, 500]);
});

describe("a list of large objects, which needs a call for each", () => {
  const COUNT = 12;
  beforeEach(async () => {
    for (let index = 0; index < COUNT; index++) await create(`w-${index}`, { host: "x".repeat(600 * 1024) });
  });

  test("calls the webhook for a few of them at a time", async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    wait = () => answered;

    const listing = subject.request("GET", path("v2"));
    await vi.waitFor(() => expect(asked).toHaveLength(8), { timeout: 10_000 });
    // Other objects are written and read meanwhile.
    await create("other", { host: "x" });
    await subject.request("GET", path("v1", "other"));
    const inFlight = asked.length;
    answer?.();

    expect((await listing).body.items).toHaveLength(COUNT);
    expect([inFlight, asked.length]).toEqual([8, COUNT]);
  });

  test("does not make readers of the others wait", async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    wait = () => (asked.length <= 8 ? answered : Promise.resolve());

    const listing = subject.request("GET", path("v2"));
    await vi.waitFor(() => expect(asked).toHaveLength(8), { timeout: 10_000 });
    // By name the last one.
    const { status } = await subject.request("GET", path("v2", "w-9"));
    answer?.();

    expect(status).toBe(200);
    expect((await listing).body.items).toHaveLength(COUNT);
    expect(asked).toHaveLength(COUNT);
  });

  test("stops calling a webhook that fails", async () => {
    change = () => ({});

    const { status } = await subject.request("GET", path("v2"));

    expect(status).toBe(500);
    expect(asked.length).toBeLessThanOrEqual(8);
  });
});

test("a write in another version is stored in the storage version, and answered as it was stored", async () => {
  const created = await create("a", { hostname: "x", port: 1 }, "v2");
  const stored = await subject.request("GET", path("v1", "a"));

  expect(created.spec).toEqual({ hostname: "x", port: 1, size: 3 });
  expect(stored.body).toMatchObject({ apiVersion: "example.com/v1", spec: { host: "x", port: 1, size: 3 } });
});

test("an update and a patch in another version change the converted object", async () => {
  await create("a", { host: "x", port: 1 });
  const { body } = await subject.request("GET", path("v2", "a"));

  const updated = await subject.request("PUT", path("v2", "a"), { ...body, spec: { hostname: "y", port: 2 } });
  const patched = await subject.request(
    "PATCH",
    path("v2", "a"),
    { spec: { port: 3 } },
    { "content-type": "application/merge-patch+json" },
  );

  expect(updated.body.spec).toEqual({ hostname: "y", port: 2, size: 3 });
  expect(patched.body.spec).toEqual({ hostname: "y", port: 3, size: 3 });
  expect((await subject.request("GET", path("v1", "a"))).body.spec).toEqual({ host: "y", port: 3, size: 3 });
});

test("an update that changes nothing writes nothing", async () => {
  await create("a", { host: "x" });
  const { body } = await subject.request("GET", path("v2", "a"));

  const { body: same } = await subject.request("PUT", path("v2", "a"), body);

  expect(same.metadata).toEqual(body.metadata);
});

test("selectors read the converted object", async () => {
  await create("a", { host: "x" });
  await create("b", { host: "y" });

  const { body } = await subject.request("GET", `${path("v2")}?fieldSelector=spec.hostname%3Dy`);

  expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual(["b"]);
});

test("objects that are deleted need no conversion for the answer", async () => {
  await create("a", { host: "x" });

  const { status, body } = await subject.request("DELETE", path("v2", "a"));

  expect({ status, body }).toMatchObject({ status: 200, body: { status: "Success", details: { name: "a" } } });
});

test("an object in a former storage version is read directly from the version in which it was written", async () => {
  await create("a", { host: "x" });
  const { body } = await subject.request("GET", `${DEFINITIONS}/widgets.example.com`);
  const next = definition("v2").spec as JsonObject;
  await subject.request("PUT", `${DEFINITIONS}/widgets.example.com`, { ...body, spec: next });

  const old = await subject.request("GET", path("v1", "a"));
  expect(asked).toEqual([]);
  const now = await subject.request("GET", path("v2", "a"));
  const patched = await subject.request(
    "PATCH",
    path("v1", "a"),
    { spec: { port: 7 } },
    { "content-type": "application/merge-patch+json" },
  );

  expect(old.body.spec).toEqual({ host: "x", size: 3 });
  expect(now.body.spec).toEqual({ hostname: "x", size: 3 });
  expect(patched.body.spec).toEqual({ host: "x", port: 7, size: 3 });
});

test("a watch delivers converted events in order", async () => {
  await create("a", { host: "x" });
  const abort = new AbortController();
  const events: [string, Json][] = [];
  const watching = (async () => {
    for await (const batch of subject.transport.watch(
      { path: { cluster: "hub", group: "example.com", version: "v2", resource: "widgets" }, query: {} },
      abort.signal,
    ))
      for (const { type, object } of batch) {
        events.push([type, object.spec ?? null]);
        if (events.length === 3) abort.abort();
      }
  })();
  await expect.poll(() => events.length).toBe(1);
  await create("b", { host: "y" });
  await subject.request("DELETE", path("v1", "a"));
  await watching;

  expect(events).toEqual([
    ["ADDED", { hostname: "x", size: 3 }],
    ["ADDED", { hostname: "y", size: 3 }],
    ["DELETED", { hostname: "x", size: 3 }],
  ]);
});

describe("a response that does not follow the protocol", () => {
  const cases: Record<string, { answer(review: JsonObject): JsonObject; want: string }> = {
    "fails with the message of the webhook": {
      answer: (review) => ({
        ...review,
        response: { ...response(review), result: { status: "Failed", message: "no" } },
      }),
      want: "conversion webhook for example.com/v1, Kind=Widget failed: no",
    },
    "fails without a message": {
      answer: (review) => ({ ...review, response: { ...response(review), result: { status: "Failed" } } }),
      want: "conversion webhook for example.com/v1, Kind=Widget failed: response.result.status was 'Failed', not 'Success'",
    },
    "fails with another uid": {
      answer: (review) => ({ ...review, response: { ...response(review), uid: "other" } }),
      want: "failed: expected response.uid=",
    },
    "fails with another number of objects": {
      answer: (review) => ({ ...review, response: { ...response(review), convertedObjects: [] } }),
      want: "conversion webhook for example.com/v1, Kind=Widget returned 0 objects, expected 1",
    },
    "fails with another version": {
      answer: (review) => withObject(review, (object) => ({ ...object, apiVersion: "example.com/v3" })),
      want: "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)",
    },
    "fails with another uid of the object": {
      answer: (review) =>
        withObject(review, (object) => ({ ...object, metadata: { ...(object.metadata as JsonObject), uid: "u" } })),
      want: "returned invalid object: must have the same UID:",
    },
    "fails with invalid labels": {
      answer: (review) =>
        withObject(review, (object) => ({
          ...object,
          metadata: { ...(object.metadata as JsonObject), labels: { "a b": "c" } },
        })),
      want: "returned invalid metadata: metadata.labels: Invalid value",
    },
  };
  for (const [name, { answer, want }] of Object.entries(cases))
    test(name, async () => {
      await create("a", { host: "x" });
      change = answer;

      const { status, body } = await subject.request("GET", path("v2", "a"));

      expect(status).toBe(500);
      expect(body.message).toContain(want);
    });
});

const response = ({ response: given }: JsonObject): JsonObject => given as JsonObject;
function withObject(review: JsonObject, edit: (object: JsonObject) => JsonObject): JsonObject {
  const objects = response(review).convertedObjects as JsonObject[];
  return { ...review, response: { ...response(review), convertedObjects: objects.map(edit) } };
}

test("an invalid object fails a list, and reads of the others work", async () => {
  await create("a", { host: "x" });
  await create("b", { host: "y" });
  change = (review) =>
    withObject(review, (object) =>
      (object.metadata as JsonObject).name === "b" ? { ...object, kind: "Other" } : object,
    );

  const list = await subject.request("GET", path("v2"));
  const good = await subject.request("GET", path("v2", "a"));

  expect(list.status).toBe(500);
  expect(good.status).toBe(200);
});

describe("while a call fails for a list, a read of one of its objects", () => {
  let list: Promise<{ status: number }>;
  let answer: (() => void) | undefined;
  beforeEach(async () => {
    await create("a", { host: "x" });
    await create("b", { host: "y" });
    const answered = new Promise<void>((resolve) => (answer = resolve));
    wait = () => answered;
    list = subject.request("GET", path("v2"));
    await vi.waitFor(() => expect(asked).toHaveLength(1));
  });
  /** Reads of both objects that wait for the call of the list. */
  async function join(): Promise<number[]> {
    const reads = ["a", "a", "b"].map((name) => subject.request("GET", path("v2", name)));
    await create("other", { host: "x" });
    await subject.request("GET", path("v1", "other"));
    expect(asked).toHaveLength(1);
    answer?.();
    return (await Promise.all(reads)).map(({ status }) => status);
  }

  test("is converted by itself when the webhook returned too few objects", async () => {
    change = (review) =>
      (response(review).convertedObjects as Json[]).length > 1
        ? { ...review, response: { ...response(review), convertedObjects: [] } }
        : review;

    expect(await join()).toEqual([200, 200, 200]);
    expect((await list).status).toBe(500);
    expect(asked.map(({ objects }) => objects.length)).toEqual([2, 1, 1]);
  });

  test("is converted by itself when the webhook refused the objects together", async () => {
    change = (review) =>
      (response(review).convertedObjects as Json[]).length > 1
        ? { ...review, response: { ...response(review), result: { status: "Failed", message: "no" } } }
        : review;

    expect(await join()).toEqual([200, 200, 200]);
    expect((await list).status).toBe(500);
  });

  test("fails without another call when the webhook cannot be called", async () => {
    change = (review) => {
      hooks.close();
      return review;
    };

    expect(await join()).toEqual([500, 500, 500]);
    expect((await list).status).toBe(500);
    expect((await subject.request("GET", "/metrics")).text).toContain(
      'apiserver_conversion_webhook_request_total{failure_type="conversion_call_failure",result="failure"} 1',
    );
  });
});

test("failures are counted until the next answer", async () => {
  await create("a", { host: "x" });
  const answer = change;
  change = (review) => ({ ...review, response: {} });
  await subject.request("GET", path("v2", "a"));
  const failing = await subject.request("GET", "/metrics");
  change = answer;
  await subject.request("GET", path("v2", "a"));
  const healthy = await subject.request("GET", "/metrics");

  expect(failing.text).toContain('flotilla_conversion_webhook_failures{crd_name="widgets.example.com"} 1');
  expect(healthy.text).toContain('flotilla_conversion_webhook_failures{crd_name="widgets.example.com"} 0');
  expect(healthy.text).toContain('apiserver_conversion_webhook_request_total{failure_type="",result="success"} 1');
});
