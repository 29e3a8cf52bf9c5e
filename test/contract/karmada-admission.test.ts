/**
 * Requests for Karmada's kinds, with the recorded responses of Karmada 1.18.1: same code, reason and message, and the
 * same stored object. Differences of Flotilla are listed with the reason; a test fails if a listed case no longer
 * differs.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { comparedText } from "../../tools/golden/message-dumps.ts";
import {
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ClusterTaintPolicy,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  Work,
  WorkloadRebalancer,
  Cluster,
} from "@flotilla/karmada";
import { kindAdmissions } from "@flotilla/server";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { createTestServer, type Answered, type TestServer } from "@flotilla/testing/api-server.ts";
import { formatTime, isObject, type Json, type JsonObject, defined, omitEmpty } from "@flotilla/base";
import { createDeletionProtection, createMembershipAdmissions } from "@flotilla/flotilla";
import {
  headersOf,
  readRecordedLines,
  testRecordings,
  type RecordedCase,
  type RecordedStep,
} from "./recorded-requests.ts";

const EMPTY = "a required field that is empty counts as missing: what it would select, override or point to is nothing";
const NULL = "what is missing is called that, and not a null of the wrong type";
const ORDER = "Karmada reports schema violations in random order";
const ID = "a client that replaces an object from a file does not know its id; it is kept";
const MODELS = "ranges that meet in one amount meet, however it is written";

/** By the name of the case. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "pp no spec": NULL,
  "pp null spec": NULL,
  "pp no selectors": NULL,
  "op labels no value": NULL,
  "pp selector missing kind": EMPTY,
  "pp selector missing apiVersion": EMPTY,
  "pp affinities empty name": EMPTY,
  "pp failover cluster state": EMPTY,
  "pp priority class missing": EMPTY,
  "op plaintext missing path": EMPTY,
  "op image predicate empty": EMPTY,
  "rb no resource": EMPTY,
  "rb no spec": EMPTY,
  "rb missing name": EMPTY,
  "rb components empty": EMPTY,
  "ctp cond missing": ORDER,
  "rb eviction bad": ORDER,
  "pp update remove id": ID,
  "pp put without id": ID,
  "rb update id": "Works find their binding by its id, so it stays",
  "op both field":
    "Karmada forgets one kind of overriders when it looks for policies of which one half would be ignored",
  "work bad manifest": "it is a mistake of the client, not of the server",
  "work string manifest": "it is a mistake of the client, not of the server",
  "cl models eq form": MODELS,
  "cl models eq form2": MODELS,
  "cl models eq form3": MODELS,
  "cl models eq form4": MODELS,
  "cl models no ranges": "a model without ranges has an empty list of them, so that no reader fails on a null",
  "cl models neg grade": "the refusal names the field",
  "cl status": "an update of the status does not change the spec",
};

const file = new URL("testdata/karmada-1.18.1.jsonl.gz", import.meta.url);
const cases = readRecordedLines(file).map((line) => JSON.parse(line) as RecordedCase);

describe("Karmada's kinds are validated as in Karmada", () => {
  let hub: TestServer;
  beforeAll(async () => {
    const customs = [
      PropagationPolicy,
      ClusterPropagationPolicy,
      OverridePolicy,
      ClusterOverridePolicy,
      ClusterTaintPolicy,
      ResourceBinding,
      ClusterResourceBinding,
      Work,
      WorkloadRebalancer,
    ];
    const profile = {
      builtIns: [...kubernetesKinds, Cluster],
      customs,
      objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
    };
    hub = await createTestServer({
      profiles: { hub: profile },
      admissions: [
        ...kindAdmissions,
        ...createMembershipAdmissions({ hub: "hub", clock: { now: () => Date.parse(NOW) } }),
        createDeletionProtection("hub"),
      ],
    });
  });
  afterAll(() => hub.server.close());

  testRecordings({
    cases,
    different: DIFFERENT,
    async play(steps) {
      const answers: Json[] = [];
      for (const step of steps) answers.push(shown(await ask(hub, step), step));
      await tidy(hub, steps);
      return answers;
    },
    answerOf: ({ answer }) => withComparedMessage(withoutPolicyFinalizer(answer)),
  });
});

const NOW = formatTime(Date.parse("2030-06-01T12:00:00Z"));

async function ask(hub: TestServer, step: RecordedStep): Promise<Answered> {
  const [method = "", path = ""] = step.request.split(" ");
  let sent = step.body;
  // A PUT needs the current resourceVersion.
  if (method === "PUT" && isObject(sent?.["metadata"])) {
    const { body: current } = await hub.request("GET", path);
    sent = {
      ...sent,
      metadata: { ...sent["metadata"], resourceVersion: (current["metadata"] as JsonObject)["resourceVersion"] ?? "" },
    };
  }
  return hub.request(method, path, sent, headersOf(step));
}

/** Rejected objects are not compared: Karmada prints them in the order of its Go types. */
const withComparedMessage = (answer: JsonObject): JsonObject =>
  typeof answer["message"] === "string" ? { ...answer, message: comparedText(answer["message"]) } : answer;

/** Karmada holds policies with a finalizer until its controllers have released them; Flotilla needs none. */
function withoutPolicyFinalizer(answer: JsonObject): JsonObject {
  const { metadata } = answer;
  if (!isObject(metadata) || !Array.isArray(metadata["finalizers"])) return answer;
  const { finalizers, ...rest } = metadata;
  const others = (finalizers as string[]).filter((finalizer) => !finalizer.endsWith("propagation-policy-controller"));
  return { ...answer, metadata: { ...rest, ...omitEmpty({ finalizers: others }) } };
}

/** The response in the form of the recording: ids and times are replaced by words, and common fields are omitted. */
function shown({ status: code, body, text }: Answered, step: RecordedStep): Json {
  const read = JSON.parse(
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID").replaceAll(NOW, "NOW"),
  ) as JsonObject;
  if (body["kind"] === "Status")
    return withComparedMessage({
      code,
      ...defined({ reason: read["reason"], message: read["message"] }),
    });
  if (body["kind"] === "Table") return { code, ...tableOf(read) };
  const { apiVersion, kind: _kind, metadata, ...rest } = read;
  const {
    name: _name,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    managedFields: _managers,
    ...kept
  } = metadata as JsonObject;
  const { spec } = rest;
  if (isObject(spec) && Array.isArray(spec["resourceModels"]) && spec["resourceModels"].length === 9)
    rest["spec"] = { ...spec, resourceModels: "the defaults" };
  return {
    code,
    ...defined({ apiVersion: apiVersion !== step.body?.["apiVersion"] ? (apiVersion ?? null) : undefined }),
    metadata: kept,
    ...rest,
  };
}

/** Flotilla's own columns are only shown with `-o wide`. */
function tableOf({ columnDefinitions, rows }: JsonObject): JsonObject {
  const own = new Set(["MATCHED", "SCHEDULED", "APPLIED"]);
  const columns = columnDefinitions as { name: string; type: string; priority: number }[];
  const taken = columns.map(({ name, priority }) => !(own.has(name) && priority > 0));
  return {
    columns: columns
      .filter((_, index) => taken[index])
      .map(({ name, type, priority }) => [name, type, ...(priority > 0 ? ["wide"] : [])].join(" ")),
    rows: (rows as { cells: Json[] }[])
      .filter(({ cells }) => cells[0] === "t")
      .map(({ cells }) => cells.filter((_, index) => taken[index])),
  };
}

async function tidy(hub: TestServer, [first]: readonly RecordedStep[]): Promise<void> {
  const path = `${first?.request.split(" ")[1] ?? ""}/t`;
  await hub.request(
    "PATCH",
    path,
    { metadata: { finalizers: null } },
    { "content-type": "application/merge-patch+json" },
  );
  await hub.request("DELETE", path);
  await hub.settle();
}
