import { deniedByWebhook, field } from "@flotilla/apimachinery";
import type { AnyStep, ClusterReader, Kind } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { createAdmissionElsewhere } from "./admit-elsewhere.ts";
import { answerConversion } from "./answer-conversion.ts";
import { createReviewAnswers } from "./answer-review.ts";

const Thing = {
  group: "example.com",
  kind: "Thing",
  plural: "things",
  scope: "Namespaced",
  storageVersion: "v1",
  versions: {
    v1: { schema: { type: "object" }, columns: [] },
    v1beta1: {
      schema: { type: "object" },
      columns: [],
      toStorage: ({ size, ...object }: JsonObject) => ({ ...object, bytes: size }),
      fromStorage: ({ bytes, ...object }: JsonObject) => ({ ...object, size: bytes }),
    },
  },
  subresources: {},
  builtIn: false,
  hasGeneration: true,
} as unknown as Kind;

const nothing = {
  get: () => undefined,
  list: () => [],
  written: () => [],
  mentions: () => false,
  versions: () => [],
  kinds: () => [],
} as ClusterReader;

const answersOf = (...steps: AnyStep[]) =>
  createReviewAnswers({
    admission: createAdmissionElsewhere({
      steps,
      // As over a network: every question has to be awaited.
      authorizer: {
        decide: ({ user, verb }) => Promise.resolve({ allowed: user.name === "admin" && verb === "get", reason: "" }),
      },
      read: nothing,
      clock: createFakeClock(),
      random: createSeededRandom(1),
    }),
    kindOf: (group, kind) => (group === Thing.group && kind === Thing.kind ? Thing : undefined),
    isController: ({ name }) => name === "controllers",
  });

const review = (more: object = {}): JsonObject => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u1",
    kind: { group: "example.com", version: "v1", kind: "Thing" },
    resource: { group: "example.com", version: "v1", resource: "things" },
    namespace: "default",
    name: "a",
    operation: "CREATE",
    userInfo: { username: "jane", groups: ["dev"] },
    object: { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: { replicas: 1 } },
    ...more,
  },
});
const responseOf = (answer: JsonObject): JsonObject => answer["response"] as JsonObject;

test("what steps change is answered as a patch, and warnings are passed on", async () => {
  const answers = answersOf({
    name: "Step",
    for: Thing,
    on: ["CREATE"],
    mutate(seen) {
      seen.warn("defaulted");
      return { ...seen.object, spec: { ...((seen.object as JsonObject)["spec"] as JsonObject), mode: "fast" } };
    },
  });

  const { patch, ...response } = responseOf(await answers.mutate(review()));

  expect(response).toEqual({ uid: "u1", allowed: true, patchType: "JSONPatch", warnings: ["defaulted"] });
  expect(JSON.parse(Buffer.from(patch as string, "base64").toString())).toEqual([
    { op: "add", path: "/spec/mode", value: "fast" },
  ]);
});

test("a denial has the status of the step, without what the API server adds to its text", async () => {
  const answers = answersOf({
    name: "Step",
    for: Thing,
    on: ["CREATE"],
    check() {
      throw deniedByWebhook("thing.example.com", 403, "no", "Forbidden");
    },
  });

  expect(responseOf(await answers.validate(review()))).toMatchObject({
    uid: "u1",
    allowed: false,
    status: { code: 403, reason: "Forbidden", message: "no" },
  });
});

test("all errors of an object are reported together", async () => {
  const invalid = (path: string): AnyStep => ({
    name: "Step",
    for: Thing,
    on: ["CREATE"],
    validate: () => [field.required(path, "")],
  });

  const response = responseOf(await answersOf(invalid("spec.a"), invalid("spec.b")).validate(review()));

  expect(response).toMatchObject({ allowed: false, status: { code: 422, reason: "Invalid" } });
  expect(JSON.stringify(response)).toMatch(/spec\.a.*spec\.b/);
});

test("a step may ask what the user may do, and the answer is awaited", async () => {
  const answers = answersOf({
    name: "Step",
    for: Thing,
    on: ["CREATE"],
    validate: ({ allows }) =>
      allows({ verb: "get", group: "", resource: "secrets" }) ? [] : [field.forbidden("spec.secret", "not yours")],
  });

  const [jane, admin] = [
    responseOf(await answers.validate(review())),
    responseOf(await answers.validate(review({ userInfo: { username: "admin" } }))),
  ];

  expect([jane["allowed"], admin["allowed"]]).toEqual([false, true]);
});

test("a deletion is checked with the object that is deleted, and steps for other operations do not run", async () => {
  const seen: unknown[] = [];
  const answers = answersOf(
    { name: "OnDelete", for: Thing, on: ["DELETE"], check: ({ object }) => void seen.push(object.metadata.name) },
    { name: "OnCreate", for: Thing, on: ["CREATE"], check: () => void seen.push("create") },
  );

  await answers.validate(
    review({
      operation: "DELETE",
      object: null,
      oldObject: { apiVersion: "example.com/v1", metadata: { name: "gone" } },
    }),
  );

  expect(seen).toEqual(["gone"]);
});

test("controllers get no warnings", async () => {
  const answers = answersOf({ name: "OnCreate", for: Thing, on: ["CREATE"], warnings: () => ["odd"] });

  const warnings = async (username: string): Promise<unknown> =>
    responseOf(await answers.validate(review({ userInfo: { username } })))["warnings"];

  expect([await warnings("jane"), await warnings("controllers")]).toEqual([["odd"], undefined]);
});

const invalidBodies: Record<string, unknown> = {
  "no object": null,
  "another kind": { kind: "ConfigMap" },
  "no request": { kind: "AdmissionReview" },
  "no uid": { kind: "AdmissionReview", request: { operation: "CREATE", object: { metadata: {} } } },
  "an unknown operation": { kind: "AdmissionReview", request: { uid: "u", operation: "CONNECT", object: {} } },
  "no object to check": { kind: "AdmissionReview", request: { uid: "u", operation: "CREATE", object: [] } },
};
for (const [what, body] of Object.entries(invalidBodies))
  test(`a review with ${what} is rejected with 400`, async () => {
    await expect(answersOf().validate(body)).rejects.toMatchObject({ status: { code: 400 } });
  });

test("objects are converted through the stored version, and one that cannot be converted fails the review", () => {
  const kindOf = (group: string, kind: string): Kind | undefined =>
    group === Thing.group && kind === Thing.kind ? Thing : undefined;
  const conversion = (object: JsonObject): JsonObject =>
    responseOf(
      answerConversion(
        { kind: "ConversionReview", request: { uid: "u1", desiredAPIVersion: "example.com/v1", objects: [object] } },
        kindOf,
      ),
    );

  expect(conversion({ apiVersion: "example.com/v1beta1", kind: "Thing", metadata: { name: "a" }, size: 3 })).toEqual({
    uid: "u1",
    result: { status: "Success" },
    convertedObjects: [{ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, bytes: 3 }],
  });
  expect(conversion({ apiVersion: "example.com/v2", kind: "Thing", metadata: { name: "a" } })).toMatchObject({
    result: { status: "Failure", message: "Thing cannot be converted from example.com/v2 to example.com/v1" },
  });
});

test("a step is run in the order of our own API server: errors first, then webhooks, warnings and checks", async () => {
  const ran: string[] = [];
  const step = (name: string, more: Partial<AnyStep>): AnyStep => ({ name, for: Thing, on: ["CREATE"], ...more });
  const answers = answersOf(
    step("Check", { check: () => void ran.push("check") }),
    step("Warning", { warnings: () => (ran.push("warnings"), []) }),
    step("Webhook", { webhook: { name: "w", code: () => 400 }, validate: () => (ran.push("webhook"), []) }),
    step("Rule", { validate: () => (ran.push("validate"), []) }),
  );

  await answers.validate(review());

  expect(ran).toEqual(["validate", "webhook", "warnings", "check"]);
});
